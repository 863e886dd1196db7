import { z } from "zod";
import { behindLines, formatLocator, locatorSchema } from "../job/locator.ts";
import { REASON_WORDS } from "../job/claims.ts";
import { CLAIM_GRADES, CLAIM_REASONS } from "../job/run-result.ts";
import type { ClaimGrade } from "../job/run-result.ts";
import type { VerificationState } from "../job/verification.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf } from "../store/connection/rows.ts";
import { DOUBT_OF_CLAIM, doubtSchema, doubtText, quotePicture } from "./doubtful-figures.ts";
import { countOf, formatCount } from "./quantity.ts";
import { WORDS, joinTexts, tableOf } from "./section.ts";
import type { Block, Extent, LineRange, Text } from "./section.ts";

/** Where another piece that a statement cites says most of it. */
export const otherPlace = z.object({
  number: z.number(),
  path: z.string(),
  start_char: z.number(),
  end_char: z.number(),
  line_start: z.number(),
  line_end: z.number(),
  locator: locatorSchema.nullable(),
});

/** A statement that an answer holds, as its readers are told of it. */
export const storedClaim = z.object({
  text: z.string(),
  grade: z.enum(CLAIM_GRADES),
  reason: z.enum(CLAIM_REASONS),
  cites: z.array(z.number()),
  arithmetic: z.string().nullable(),
  /** Of the piece that carries it. */
  number: z.number().nullable(),
  path: z.string().nullable(),
  line_start: z.number().nullable(),
  line_end: z.number().nullable(),
  /** Where in the file that is, where its lines do not say it: the row of a table, the page. */
  locator: locatorSchema.nullable(),
  /** The words that stand there. */
  quote: z.string().nullable(),
  /** Of the other pieces that it cites. */
  other_places: z.array(otherPlace),
  /** Of the figure that was not read for sure. */
  doubt: doubtSchema.nullish(),
  /** Where the quote was read from a picture. */
  picture: quotePicture.optional(),
});
export type StoredClaim = z.infer<typeof storedClaim>;

/** A statement that was left out of an answer. */
export const leftOutClaim = storedClaim.pick({ text: true, reason: true });
type LeftOutClaim = z.infer<typeof leftOutClaim>;

/**
 * The statements that the answer of a run `r` holds, as a column `claims`, and those of its draft that were left out of it,
 * as `claims_left_out`: where nothing was left, all of the last draft. @param most so many of each
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

/** What was graded of a result, in JSON; nothing where its kind has no statements. */
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

/** The statements that were left out, in JSON; nothing where none was. */
export const leftOutJson = (claims: readonly LeftOutClaim[]): Record<string, unknown> =>
  claims.length === 0
    ? {}
    : { claims_left_out: claims.map((one) => ({ ...one, why: REASON_WORDS[one.reason] })) };

/** How many of the statements of an answer are supported: `7 of 8 supported, 1 unconfirmed`; empty where it states nothing. */
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

/** Those first whose figures wait for somebody who says what stands in the picture. */
export const readingFirst = <T extends Pick<StoredClaim, "reason">>(claims: readonly T[]): T[] => [
  ...claims.filter(({ reason }) => reason === "reading"),
  ...claims.filter(({ reason }) => reason !== "reading"),
];

/** Statements that a page shows of one answer. */
const MOST_SHOWN = 30;
const MOST_CHARS = 600;

/**
 * The statements of an answer: those that are not supported with what stands there instead, and of the others how many they are,
 * for the answer has their words and their numbers lead to their places. In full each one.
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
  return [
    { kind: "note", text: `Statements: ${shareText(claims.map(({ grade }) => grade))}.` },
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

/** The first words of a statement, which the answer has whole, and its place; of one that is contradicted what stands there. */
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
      ? [{ kind: "note" as const, text: `and ${formatCount(more)} more statements` }]
      : []),
  ];
}

/** Of what is not supported, why. */
const whatStandsThere = (claim: StoredClaim): string =>
  [
    ...(claim.grade === "supported" ? [] : [`(${reasonText(claim)})`]),
    ...(claim.grade === "unsupported" ? [] : [cut(claim.quote ?? "")]),
  ].join(" ");

const cut = (text: string): string =>
  text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS).toWellFormed()}…`;

/** Where a statement is carried, and where the other pieces that it cites say it. */
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
      ...rangeOf(lines),
      ...(found?.page === undefined ? {} : { page: found.page }),
    } as const,
    behindLines(found),
  ]);
  return pieces.length === 0 ? null : pieces;
}

const rangeOf = ({ path, line_start, line_end }: LineRange): LineRange => ({
  path,
  line_start,
  line_end,
});

const MOST_PLACES = 8;

/**
 * Where a piece says what the statements say that cite it, in their order, behind its lines: `, page 2; page 5`. Empty where
 * these say it.
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

/** How many statements of an answer are supported, and each other one with what stands there, for a terminal. */
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
  `line ${String(line)}${behindLines(locator)}`;

/** The statements that were left out of an answer, each with the reason. */
export const leftOutLines = (claims: readonly LeftOutClaim[]): readonly string[] =>
  claims.map((claim) => `left out: ${leftOutItem(claim)}`);

/** The same as a list of a page. */
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

/** Answers of a batch by grade, statements that were left out, and of how many answers. */
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

/** `3 statements were left out of 2 answers`; null where none was. */
export const leftOutText = ({ dropped, shortened }: GradeCounts): string | null =>
  dropped === 0
    ? null
    : `${countOf(dropped, "statement")} ${dropped === 1 ? "was" : "were"} left out of ${countOf(shortened, "answer")}`;
