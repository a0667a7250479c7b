// One randomized report to a collection of ogive, made where its owner is: nothing but the report leaves the device.
//     const report = await localReport(text, 41, 17, "1"); // text: of GET /v1/study; "1": the largest epsilon allowed
// Chances are whole numbers over 2^64, the same as in Python, and are computed here: no service can choose them.
const WORD = 1n << 64n, ONE = 1n << 256n, GOLDEN = 0x9E3779B97F4A7C15n;
const refuse = (why) => { throw new Error(why); };
const fraction = (text) => [...text.split("/"), "1"].slice(0, 2).map(BigInt);
const length = (number) => number.toString(2).length;
const little = (value, bytes) => Array.from({ length: bytes }, (_, at) => Number(value >> BigInt(8 * at) & 255n));

function exponential([p, q]) { // e^(p/q), at most e^64, times 2^256, from below: every term is rounded down
  if (p > 64n * q) [p, q] = [64n, 1n];
  let sum = 0n;
  for (let n = 1n, term = ONE; term > 0n; term = term * p / (q * n++)) sum += term;
  return sum;
}
export function flips(epsilon) { // chance of a flip, times 2^64, rounded up
  const sum = ONE + exponential(epsilon);
  return (WORD * ONE + sum - 1n) / sum;
}
export function keeps(epsilon, size) { // chance to keep one of `size` symbols, times 2^64, rounded down
  const excess = exponential(epsilon) - ONE;
  return WORD * excess / (size * ONE + excess);
}
function mixed(value) {
  value = (value ^ value >> 30n) * 0xBF58476D1CE4E5B9n % WORD;
  value = (value ^ value >> 27n) * 0x94D049BB133111EBn % WORD;
  return value ^ value >> 31n;
}
function level({ seed, assignment }, levels, number) { // which level of the tree a participant is asked
  if (!Number.isSafeInteger(seed)) refuse("this client does not know so large a seed");
  const key = mixed((BigInt(seed) + GOLDEN) % WORD);
  const hashed = (place) => mixed((key + (place + 1n) * GOLDEN) % WORD) >> 32n;
  if (assignment === "even") return (number + (hashed(number / levels) * levels >> 32n)) % levels;
  let found = 0n;
  while (found + 1n < levels && hashed(number) >= ((found + 1n) << 32n) / levels) found++;
  return found;
}

export function payload(oracle, symbol, number, fill = (bytes) => crypto.getRandomValues(bytes)) {
  const random = (bytes) => fill(new Uint8Array(bytes)).reduce((sum, byte) => sum << 8n | BigInt(byte), 0n);
  const coin = (threshold) => random(8) < threshold; // with chance threshold / 2^64 exactly
  function uniform(bound) { // 0 to bound - 1: what is past the last multiple is drawn again
    const drawn = random(4);
    return drawn < (1n << 32n) / bound * bound ? drawn % bound : uniform(bound);
  }
  function unary(nodes, own, chance) { // a bit a node: a fair one for the own node
    const bits = Array.from({ length: Number(nodes) }, (_, node) => coin(BigInt(node) === own ? WORD / 2n : chance));
    return little(bits.reduceRight((sum, bit) => sum << 1n | BigInt(bit), 0n), Math.ceil(bits.length / 8));
  }
  function hadamard(nodes, own, chance) { // an index that has nothing to do with the owner, and a sign, often flipped
    const exponent = length(nodes - 1n), index = random(8) % (1n << BigInt(exponent));
    const sign = (index & own).toString(2).replaceAll("0", "").length % 2 === 1;
    return little(index << 1n | BigInt(sign !== coin(chance)), Math.ceil((exponent + 1) / 8));
  }
  const size = BigInt(oracle.size), own = BigInt(symbol), [p, q] = fraction(oracle.epsilon);
  if (oracle.name === "krr") {
    return little(coin(keeps([p, q], size)) ? own : uniform(size), Math.ceil(length(size - 1n) / 8));
  }
  if (oracle.name === "unary") return unary(size, own, flips([p, q]));
  const joint = oracle.split === "budget"; // every level is asked, each at a share of epsilon
  const known = oracle.name === "tree" && !(joint && oracle.composition !== "basic");
  if (!known) refuse("this client does not know the method");
  const branching = BigInt(oracle.branching), nodes = [branching];
  while (nodes.at(-1) < size) nodes.push(nodes.at(-1) * branching);
  const levels = BigInt(nodes.length), chance = flips(joint ? [p, q * levels] : [p, q]);
  const bits = (count) => oracle.nodes === "unary" && count <= 1024n;
  const field = (count) => (bits(count) ? unary : hadamard)(count, own * count / nodes.at(-1), chance);
  if (joint) return nodes.flatMap(field);
  const widths = nodes.map((count) => Math.ceil((bits(count) ? Number(count) : length(count - 1n) + 1) / 8));
  return Object.assign(Array(Math.max(...widths)).fill(0), field(nodes[level(oracle, levels, BigInt(number))]));
}

export function symbol({ grid, missing, outside, fractions }, value) { // the bin of a number, a date, or null
  const { kind, low, high, bins, unit, thresholds } = grid;
  if (unit === "datetime") refuse("this client does not know times");
  const none = typeof missing === "number" ? missing : { low, high }[missing] ?? NaN;
  const read = unit === "date" ? Date.parse(value) / 864e5 : Number(value === "" ? NaN : value);
  const number = value === null ? none : read;
  if (Number.isNaN(number)) refuse("there is no value, or none of the kind that is asked");
  if (outside === "refuse" && (number < low || number > high)) refuse(`the value is not from ${low} to ${high}`);
  if (fractions === "refuse" && !Number.isInteger(number)) refuse("the value is not a whole number");
  const end = (bin) => ({
    linear: low + (high - low) * (bin / bins), integers: low + bin - 1, geometric: low * (high / low) ** (bin / bins),
  })[kind] ?? thresholds[bin - 1];
  let first = 1, last = bins; // the first bin whose end is not below the number
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (number <= end(middle)) last = middle; else first = middle + 1;
  }
  return first - 1;
}

export async function localReport(text, value, number, limit) {
  const { schema, privacy, participants, rounding, oracle, domain: { columns: [column, ...more] } } = JSON.parse(text);
  const [cost, over] = fraction(oracle.epsilon ?? "0"), [most, under] = fraction(limit);
  const known = schema === "ogive.local/1" && privacy.type === "PureDP" && rounding === "simple";
  if (!known || more.length || column.type !== "binning") refuse("this client does not know such a question");
  if (cost * under > most * over) refuse(`a report would cost epsilon = ${oracle.epsilon}, and ${limit} is allowed`);
  if (!(Number.isInteger(number) && number >= 0 && number < participants)) refuse(`there is no participant ${number}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const drawn = payload(oracle, symbol(column, value), number);
  return Uint8Array.from([1, ...digest.slice(0, 4), ...little(BigInt(number), 4), ...drawn]);
}
