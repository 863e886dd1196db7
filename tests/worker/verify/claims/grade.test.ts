import { describe, expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import type { GradedClaim } from "../../../../src/worker/verify/claims/grade.ts";
import { readingOf } from "./grades-of.ts";
import { pieceOf } from "./pieces-of.ts";

const FERRY = pieceOf(
  "notes/ferry.md",
  "# Ferry\n\nDogs travel free but are not allowed in the lounge. A second vessel is planned for 2027.",
);

const gradeOf = (text: string, cites: readonly number[] = [1]): unknown => {
  const [graded] = gradeClaims([{ text, cites }], [FERRY], { question: "" });
  return graded && [graded.grade, graded.reason];
};

test("refuses a claim that cites nothing, and one whose piece was not admitted", () => {
  expect(gradeOf("A second vessel is planned for 2027.", [])).toEqual(["unsupported", "uncited"]);
  expect(gradeOf("A second vessel is planned for 2027.", [2])).toEqual([
    "unsupported",
    "not_admitted",
  ]);
});

test("supports a whole sentence of the piece, and says where it stands", () => {
  const [graded] = gradeClaims(
    [{ text: "“A second vessel is planned for 2027”", cites: [1] }],
    [FERRY],
    { question: "" },
  );
  expect(graded).toMatchObject({ grade: "supported", reason: "verbatim" });
  const { startChar = 0, endChar = 0, lineStart } = graded?.place ?? {};
  expect(FERRY.text.slice(startChar, endChar)).toBe("A second vessel is planned for 2027.");
  expect(lineStart).toBe(3);
});

test.each([
  ["North pier — Length (m): 12; Price: 340 EUR", "supported"],
  ["Berth: North pier; Price: 340 EUR", "supported"],
  ["South pier — Price: 340 EUR", "unconfirmed"],
  ["North pier — Price: 520 EUR", "unconfirmed"],
  ["12 — Price: 340 EUR", "unconfirmed"],
])("a row of a table that an answer shows as %j is %s", (text, grade) => {
  const rows = "| Berth | Length (m) | Price |\n|---|---|---|\n";
  const piece = pieceOf(
    "prices.md",
    `${rows}| North pier | 12 | 340 EUR |\n| South pier | 18 | 520 EUR |\n`,
  );
  expect(gradeClaims([{ text, cites: [1] }], [piece], { question: "" })).toMatchObject([{ grade }]);
});

test("supports a sentence that is shown without the mark of its note", () => {
  const piece = pieceOf(
    "a.md",
    "The boiler was replaced. It costs 12,480.50 without tax.[^2]\n\n[^2]: The offer said 11,900.",
  );
  const claims = [
    "It costs 12,480.50 without tax.",
    "It costs 12,480.50 without tax.[^2]",
    "The offer said 11,900.",
  ];
  for (const text of claims)
    expect(gradeClaims([{ text, cites: [1] }], [piece], { question: "" })).toMatchObject([
      { grade: "supported" },
    ]);
});

test("ends for a claim whose code span is empty", () => {
  const piece = pieceOf("notes/dogs.md", "Dogs travel free");
  const claim = { text: "Dogs ``` ``` roam and travel", cites: [1] };
  expect(gradeClaims([claim], [piece], { question: "" })).toMatchObject([{ grade: "unconfirmed" }]);
});

const LIST =
  "# Policy\n\n## Not covered\n\n- The piano of the club.\n\n## Questions\n\nIs the organ of the club insured?\n";

describe("by what stands against a claim, and what a judge says of it", () => {
  test.each([
    ["a whole sentence", "A second vessel is planned for 2027.", "verbatim", FERRY.text],
    ["other words", "Dogs go free of charge.", "open", FERRY.text],
    [
      "a figure that stands nowhere",
      "A second vessel is planned for 2031.",
      "held back",
      FERRY.text,
    ],
    ["what is denied above", "The piano of the club is covered.", "held back", LIST],
    ["what is asked", "The organ of the club is insured.", "framed", LIST],
    ["the denial told with it", "The piano of the club is not covered.", "open", LIST],
    [
      "the words of it alone",
      "The piano of the club.",
      "unconfirmed unconfirmed unconfirmed",
      LIST,
    ],
  ])("%s", (_, claim, standing, evidence) => {
    expect(readingOf(claim, evidence).standing).toBe(standing);
  });

  test.each([
    ["yes", "supported", "confirmed", "pass"],
    ["no", "unconfirmed", "judge", "fail"],
    ["unclear", "unconfirmed", "unclear", "unknown"],
  ] as const)("%s of it is the reason, and a check", (says, grade, reason, verdict) => {
    const detail = "line 3 says so";
    const claim = { text: "Dogs go free of charge.", cites: [1], verdict: { says, detail } };
    expect(gradeClaims([claim], [FERRY], { question: "" })).toMatchObject([
      { grade, reason, checks: [{ rule: "judge", verdict, detail }] },
    ]);
  });

  test("a rule that speaks against it is the reason before a judge", () => {
    const verdict = { says: "yes", detail: "" } as const;
    const claim = { text: "A second vessel is planned for 2031.", cites: [1], verdict };
    expect(gradeClaims([claim], [FERRY], { question: "" })).toMatchObject([
      {
        ...{ grade: "unconfirmed", reason: "figure" },
        checks: [
          { rule: "figures", verdict: "fail", detail: "2031 stands nowhere in what is cited" },
          { rule: "judge", verdict: "pass" },
        ],
      },
    ]);
  });

  test("a rule says which words it means", () => {
    const claim = { text: "Dogs may enter the lounge.", cites: [1] };
    const piece = pieceOf("a.md", "Dogs may not enter the lounge.");
    expect(gradeClaims([claim], [piece], { question: "" })[0]?.checks).toEqual([
      { rule: "polarity", verdict: "fail", detail: "the sentence denies it" },
    ]);
  });

  test("of two claims with the same words each keeps its own verdict", () => {
    const claim = { text: "Dogs go free of charge.", cites: [1] };
    const judged = { ...claim, verdict: { says: "yes", detail: "" } } as const;
    const grades = gradeClaims([claim, judged], [FERRY], { question: "" });
    expect(grades.map(({ grade }) => grade)).toEqual(["unconfirmed", "supported"]);
  });
});

describe("a claim with a quote", () => {
  const TWO = pieceOf(
    "notes/boats.md",
    "# Boats\n\nThe Tern carries 40 people and sails daily. The Heron carries 90 people and sails daily.",
  );
  const grade = (quote: string | undefined): GradedClaim | undefined =>
    gradeClaims([{ text: "The boat carries 90 people.", cites: [1], quote }], [TWO], {
      question: "",
    })[0];
  const placed = (quote: string | undefined): string => {
    const { startChar = 0, endChar = 0 } = grade(quote)?.place ?? {};
    return TWO.text.slice(startChar, endChar);
  };

  test("is held against the sentence that the quote stands in", () => {
    const heron = "The Heron carries 90 people and sails daily.";
    expect(placed(undefined)).toBe(heron);
    expect(placed("the heron carries 90 people")).toBe(heron);
    expect(grade("The Heron carries 90 people")?.checks).toEqual(grade(undefined)?.checks);
    expect(placed("The Tern carries 40 people and sails daily.")).toBe(
      "The Tern carries 40 people and sails daily.",
    );
    expect(grade("The Tern carries 40 people and sails daily.")?.grade).not.toBe("supported");
  });

  test("is held against all sentences that the quote spans", () => {
    expect(grade(TWO.text.slice(TWO.text.indexOf("The Tern")))).toEqual(grade(undefined));
  });

  test("is flagged where the quote stands nowhere, and graded without it", () => {
    const { checks = [], ...graded } = grade("The Heron carries ninety people") ?? {};
    const { checks: others = [], ...without } = grade(undefined) ?? {};
    expect(graded).toEqual(without);
    expect(checks).toEqual([
      ...others,
      {
        rule: "claim_quote",
        verdict: "unknown",
        detail: "The quote that it gives stands in no piece that it cites.",
      },
    ]);
  });

  test.each(["", "carries", "the"])(
    "is graded without the quote %j, which says too little",
    (quote) => {
      expect(grade(quote)).toEqual(grade(undefined));
    },
  );
});
