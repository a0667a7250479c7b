
// The form of the page: a report is kept in this browser before it is sent, so that asking again sends the same one.
const form = document.querySelector("form"), said = document.querySelector("output");
const { digest, limit } = form.dataset, { token, answer } = form.elements;
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytes = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
token.value = location.hash.slice(1);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  said.value = await send(token.value.trim(), answer.value.trim()).catch((problem) => `Nothing new: ${problem.message}.`);
});

async function send(shown, value) {
  if (!/^[0-9]+-[0-9a-f]{64}$/.test(shown)) refuse("the token is not complete");
  const text = await (await fetch("/v1/study")).text(), number = parseInt(shown, 10), place = `ogive ${digest} ${number}`;
  const read = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
  if (read !== digest) refuse("this service asks something else now; load the page again");
  const before = localStorage.getItem(place), report = before ?? hex(await localReport(text, value || null, number, limit));
  localStorage.setItem(place, report);
  const headers = { Authorization: `Bearer ${shown}`, "Content-Type": "application/vnd.ogive.report" };
  const reply = await fetch(`/v1/tasks/${digest}/reports`, { method: "POST", headers, body: bytes(report) });
  if (reply.status !== 201) refuse((await reply.text()).trim());
  return `Sent: ${report}. ${before ? "This is the report that this browser made before; your answer was not read." : "Nothing else left this browser."}`;
}
