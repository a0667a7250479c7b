// How the search of the manual ranks: words of titles first, pages for users before those for who changes or checks ogive.
"use strict";

const BEHIND = /^(architecture|contributing|benchmarks|sizing|reproduction|science|proofs\/|api\/)/;

var Scorer = {
  score: ([page, , , , score]) => (BEHIND.test(page) ? score / 4 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 80,
  partialTitle: 40,
  term: 5,
  partialTerm: 2,
};
