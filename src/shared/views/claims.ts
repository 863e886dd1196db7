import { z } from "zod";
import { formatAfterLines, formatLocator, locatorSchema } from "../job/locator.ts";
import { REASON_WORDS } from "../job/claims.ts";
import { CLAIM_GRADES, CLAIM_REASONS, RUN_GRADES } from "../job/run-result.ts";
import type { ClaimGrade } from "../job/run-result.ts";
import type { VerificationState } from "../job/verification.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf } from "../store/connection/rows.ts";
import { DOUBT_OF_CLAIM, doubtSchema, doubtText, quotePicture } from "./doubtful-figures.ts";
import { countOf, formatCount } from "./quantity.ts";
import { WORDS, joinTexts, tableOf } from "./section.ts";
import type { Block, Extent, Text } from "./section.ts";

/** The place of another piece that a statement cites and that says most of it. */
export const otherPlace = z.object({
  number: z.number(),
  path: z.string(),
  start_char: z.number(),
  end_char: z.number(),
  line_start: z.number(),
  line_end: z.number(),
  locator: locatorSchema.nullable(),
});

/** A statement of an answer, as it is shown to readers. */
export const storedClaim = z.object({
  text: z.string(),
  grade: z.enum(CLAIM_GRADES),
  reason: z.enum(CLAIM_REASONS),
  cites: z.array(z.number()),
  arithmetic: z.string().nullable(),
  /** The citation number of the supporting piece. */
  number: z.number().nullable(),
  path: z.string().nullable(),
  line_start: z.number().nullable(),
  line_end: z.number().nullable(),
  /** The place in the file that line numbers do not give: the row of a table, the page. */
  locator: locatorSchema.nullable(),
  /** The supporting words at that place. */
  quote: z.string().nullable(),
  /** Places in the other cited pieces. */
  other_places: z.array(otherPlace),
  /** The doubtful reading of a figure (OCR). */
  doubt: doubtSchema.nullish(),
  /** Set if the quote was read from a picture. */
  picture: quotePicture.optional(),
});
export type StoredClaim = z.infer<typeof storedClaim>;

/** A statement that was left out of an answer. */
export const leftOutClaim = storedClaim.pick({ text: true, reason: true });
type LeftOutClaim = z.infer<typeof leftOutClaim>;

/**
 * SQL of two columns for a run `r`: `claims`, the statements of its answer, and `claims_left_out`, those dropped from its draft;
 * from its last draft if the answer was refused as unsupported. @param most limit of each
 */
export const claimsColumn = (most: number): string =>
  `(select coalesce(jsonb_agg(to_jsonb(c) order by c.ordinal), '[]')
      from (select ordinal, text, grade, reason, cites, arithmetic, number, path, line_start, line_end,
                   locator, carrier as quote, other_places, ${DOUBT_OF_CLAIM} as doubt
              from nightdesk_data.claims c where c.run_id = r.run_id and c.stands
             order by ordinal limit ${most}) c) as claims,
    (select coalesce(jsonb_agg(jsonb_build_object('text', c.text, 'reason', c.reason) order by c.ordinal), '[]')
      from (select ordinal, text, reason from nightdesk_data.claims c
             where c.run_id = r.run_id and c.fate = 'dropped'
               and (r.claims_dropped > 0
                    and c.draft in (select s.draft from nightdesk_data.claims s where s.run_id = r.run_id and s.stands)
                    or r.error_code = 'ANSWER_UNSUPPORTED'
                    and c.draft = (select max(s.draft) from nightdesk_data.claims s where s.run_id = r.run_id))
             order by ordinal limit ${most}) c) as claims_left_out`;

/** The grade and statements of a result as JSON; empty for a kind without statements. */
export const claimsJson = ({
  grade,
  verification,
  claims,
  claims_dropped: dropped,
  claims_left_out: leftOut,
}: {
  readonly grade: string | null;
  readonly verification: VerificationState | null;
  readonly claims: readonly StoredClaim[];
  readonly claims_dropped: number | null;
  readonly claims_left_out: readonly LeftOutClaim[];
}): Record<string, unknown> =>
  grade === null
    ? {}
    : {
        grade,
        ...(verification === null || verification === "off" ? {} : { verification }),
        claims,
        claims_dropped: dropped ?? 0,
        ...leftOutJson(leftOut),
      };

/** The statements that were left out, as JSON; empty if there are none. */
export const leftOutJson = (claims: readonly LeftOutClaim[]): Record<string, unknown> =>
  claims.length === 0
    ? {}
    : { claims_left_out: claims.map((one) => ({ ...one, why: REASON_WORDS[one.reason] })) };

/** The share of supported statements: `7 of 8 supported, 1 unconfirmed`; empty if the answer states nothing. */
export function shareText(grades: readonly ClaimGrade[]): string {
  if (grades.length === 0) return "";
  const count = (grade: ClaimGrade): number => grades.filter((one) => one === grade).length;
  const rest = (["unconfirmed", "unsupported"] as const).flatMap((grade) =>
    count(grade) === 0 ? [] : [`${formatCount(count(grade))} ${grade}`],
  );
  return [
    `${formatCount(count("supported"))} of ${formatCount(grades.length)} supported`,
    ...rest,
  ].join(", ");
}

/** Why a claim has its grade, in words. */
export const reasonText = ({
  reason,
  arithmetic,
  doubt = null,
}: Pick<StoredClaim, "reason" | "arithmetic" | "doubt">): string => {
  const more = arithmetic ?? (doubt === null ? null : doubtText(doubt));
  return more === null ? REASON_WORDS[reason] : `${REASON_WORDS[reason]}: ${more}`;
};

/** Puts statements first whose figures wait for a person to read the picture. */
export const readingFirst = <T extends Pick<StoredClaim, "reason">>(claims: readonly T[]): T[] => [
  ...claims.filter(({ reason }) => reason === "reading"),
  ...claims.filter(({ reason }) => reason !== "reading"),
];

/** Statements that a page shows for one answer. */
const MOST_SHOWN = 30;
const MOST_CHARS = 600;

/**
 * The statements of an answer. Each statement that is not supported is listed with the words of its source; the supported
 * ones are only counted, because the answer contains them and their numbers link to their places. `full` lists each one.
 */
export function claimBlocks(
  claims: readonly StoredClaim[],
  total: number,
  extent: Extent,
): readonly Block[] {
  if (claims.length === 0) return [];
  if (total === claims.length && claims.every(({ reason }) => reason === "verbatim")) {
    const verb = total === 1 ? "stands" : "stand";
    const text = `${countOf(total, "statement")}, which ${verb} in the evidence word for word.`;
    return [{ kind: "note", text }];
  }
  if (extent === "full") return claimTable(claims, total);
  const doubted = claims.filter(({ grade }) => grade !== "supported");
  const reasons = [...new Set(doubted.map(doubtOf))];
  const left = total - claims.length;
  const more = left > 0 ? `; ${formatCount(left)} more are not counted here` : "";
  return [
    { kind: "note", text: `Statements: ${shareText(claims.map(({ grade }) => grade))}${more}.` },
    ...(doubted.length === 0
      ? []
      : [
          {
            kind: "list",
            label: "Statements that are not supported",
            items: reasons.map((reason) => ({
              text: reason,
              lines: doubted.filter((claim) => doubtOf(claim) === reason).map(doubtLine),
            })),
          } as const,
        ]),
  ];
}

const doubtOf = (claim: StoredClaim): string => `${claim.grade}: ${reasonText(claim)}`;

const FIRST_WORDS_CHARS = 70;

/** The first words of a statement (the answer has it in full), its place, and the contradicting words of its source. */
function doubtLine(claim: StoredClaim): Text {
  const { text, grade, quote } = claim;
  const words =
    text.length <= FIRST_WORDS_CHARS
      ? text
      : `${text.slice(0, FIRST_WORDS_CHARS).toWellFormed().trimEnd()}…`;
  const place = placeOf(claim);
  const there = grade === "unsupported" && quote !== null ? `: ${cut(quote)}` : "";
  return joinTexts(`“${words}” `, place ?? "", there);
}

function claimTable(claims: readonly StoredClaim[], total: number): Block[] {
  const shown = readingFirst(claims).slice(0, MOST_SHOWN);
  const more = total - shown.length;
  return [
    tableOf(shown, [
      ["Grade", ({ grade }) => grade],
      ["Statement", ({ text }) => cut(text), WORDS],
      ["What stands there", whatStandsThere, WORDS],
      ["Where", placeOf],
    ]),
    ...(more > 0
      ? [{ kind: "note" as const, text: `and ${countOf(more, "more statement")}` }]
      : []),
  ];
}

/** The quote of a statement; if it is not supported, the reason too. */
const whatStandsThere = (claim: StoredClaim): string =>
  [
    ...(claim.grade === "supported" ? [] : [`(${reasonText(claim)})`]),
    ...(claim.grade === "unsupported" ? [] : [cut(claim.quote ?? "")]),
  ].join(" ");

/** The first characters of a text, as many as pages show. */
export const cut = (text: string): string =>
  text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS).toWellFormed()}…`;

/** The place that supports a statement, and the places in the other pieces that it cites. */
function placeOf({ path, line_start, line_end, locator, ...claim }: StoredClaim): Text | null {
  const carried =
    path === null || line_start === null || line_end === null
      ? []
      : [{ path, line_start, line_end, locator }];
  const places = [...carried, ...claim.other_places];
  const pieces = places.flatMap(({ locator: found, ...lines }, at) => [
    ...(at === 0 ? [] : ["; "]),
    {
      kind: "place",
      path: lines.path,
      line_start: lines.line_start,
      line_end: lines.line_end,
      ...(found?.page === undefined ? {} : { page: found.page }),
    } as const,
    formatAfterLines(found),
  ]);
  return pieces.length === 0 ? null : pieces;
}

const MOST_PLACES = 8;

/**
 * The pages or rows of a piece that support the statements which cite it, in the order of the statements: `, page 2; page
 * 5`. Empty if no place has one.
 */
export function placesOfPiece(
  number: number | null | undefined,
  claims: readonly Pick<StoredClaim, "number" | "locator" | "other_places">[],
): string {
  const places = claims.flatMap((claim) => [claim, ...claim.other_places]);
  const found = new Set(
    places.flatMap((place) =>
      place.number === (number ?? null) && place.locator !== null
        ? [formatLocator(place.locator)]
        : [],
    ),
  );
  if (found.size === 0) return "";
  const more =
    found.size > MOST_PLACES ? [`and ${formatCount(found.size - MOST_PLACES)} more`] : [];
  return `, ${[...[...found].slice(0, MOST_PLACES), ...more].join("; ")}`;
}

/** For a terminal: the share of supported statements, then each other statement with the words of its source. */
export const claimLines = (claims: readonly StoredClaim[]): readonly string[] => {
  const open = claims.filter(({ grade }) => grade !== "supported");
  if (open.length === 0) return [];
  return [
    `Statements: ${shareText(claims.map(({ grade }) => grade))}`,
    ...open.flatMap((claim) => [
      `${claim.grade}: ${oneLine(claim.text)} (${reasonText(claim)})`,
      ...(claim.quote === null || claim.path === null
        ? []
        : [`  ${claim.path} ${lineOf(claim)}: ${oneLine(claim.quote)}`]),
      ...claim.other_places.map((place) => `  [${place.number}] ${place.path} ${lineOf(place)}`),
    ]),
  ];
};

const lineOf = ({
  line_start: line,
  locator,
}: Pick<StoredClaim, "line_start" | "locator">): string =>
  `line ${String(line)}${formatAfterLines(locator)}`;

/** The statements that were left out of an answer, each with the reason. */
export const leftOutLines = (claims: readonly LeftOutClaim[]): readonly string[] =>
  claims.map((claim) => `left out: ${leftOutItem(claim)}`);

/** The same as a list block of a page. */
export const leftOutBlocks = (claims: readonly LeftOutClaim[]): Block[] =>
  claims.length === 0
    ? []
    : [
        {
          kind: "list",
          label: "Left out of the answer",
          items: claims.map((claim) => ({ text: leftOutItem(claim) })),
        },
      ];

const leftOutItem = ({ text, reason }: LeftOutClaim): string =>
  `${oneLine(text)} (${REASON_WORDS[reason]})`;

const oneLine = (text: string): string => cut(text.replace(/\s+/g, " ").trim());

const countsSchema = z.object({
  verified: z.coerce.number(),
  unresolved: z.coerce.number(),
  supported: z.coerce.number(),
  unconfirmed: z.coerce.number(),
  unsupported: z.coerce.number(),
  dropped: z.coerce.number(),
  shortened: z.coerce.number(),
});

/** Counts of a batch: answers by grade, dropped statements, and the answers that they were dropped from. */
export type GradeCounts = z.infer<typeof countsSchema>;

export const selectGrades = (db: Queryable, batchId: string): Promise<GradeCounts> =>
  oneRowOf(db, countsSchema, [batchId])`
     select count(*) filter (where r.grade = 'verified') as verified,
            count(*) filter (where r.grade = 'supported') as supported,
            count(*) filter (where r.grade = 'unconfirmed') as unconfirmed,
            count(*) filter (where r.grade = 'unsupported') as unsupported,
            count(*) filter (where r.grade = 'unresolved') as unresolved,
            coalesce(sum(r.claims_dropped), 0) as dropped, count(*) filter (where r.claims_dropped > 0) as shortened
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and (r.grade is not null or r.claims_dropped > 0)`;

/** `2 verified, 5 supported`: answers by grade; empty if none has one. */
export const gradesText = (grades: GradeCounts): string =>
  RUN_GRADES.filter((grade) => grades[grade] > 0)
    .map((grade) => `${formatCount(grades[grade])} ${grade}`)
    .join(", ");

/** `3 statements were left out of 2 answers`; null if there were none. */
export const leftOutText = ({ dropped, shortened }: GradeCounts): string | null =>
  dropped === 0
    ? null
    : `${countOf(dropped, "statement")} ${dropped === 1 ? "was" : "were"} left out of ${countOf(shortened, "answer")}`;
