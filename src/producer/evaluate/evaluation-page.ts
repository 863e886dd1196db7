import { formatCount } from "../../shared/views/quantity.ts";
import { NAME, RIGHT, number, tableOf } from "../../shared/views/section.ts";
import type { ColumnOf, Table } from "../../shared/views/section.ts";
import { abstainedOf, rightOf, signTest, tallyOf, VERDICTS, wilsonInterval } from "./score.ts";
import type { Judged, Share, Verdict } from "./score.ts";

/** The verdicts on the answers of a configuration or a model, in the order of the file. */
export type Evaluated = { readonly label: string; readonly judged: readonly Judged[] };

type Group = { readonly name: string; readonly holds: (one: Judged) => boolean };

/** A group of all questions, and groups by language and by kind if there are several. */
function groupsOf(judged: readonly Judged[]): readonly Group[] {
  const by = (key: "language" | "kind"): Group[] => {
    const values = [...new Set(judged.map(({ question }) => question[key]))].sort();
    if (values.length < 2) return [];
    return values.map((value) => ({
      name: `${key} ${value === "" ? "not said" : value}`,
      holds: ({ question }) => question[key] === value,
    }));
  };
  return [{ name: "all", holds: () => true }, ...by("language"), ...by("kind")];
}

/** Left out first on a narrow terminal, because the counts add up to it. */
const ASKED = { ...RIGHT, least: 5, leftOut: 1 } as const;
const ABSTAINED = { ...RIGHT, leftOut: 2 } as const;

const VERDICT_TITLES: Readonly<Record<Verdict, string>> = {
  right: "right",
  wrong: "wrong",
  refused_rightly: "refused rightly",
  refused_wrongly: "refused wrongly",
  failed: "failed",
};

/**
 * The table of one configuration: counts of each verdict, by language and kind; the share of answerable questions that were
 * answered right, and of unanswerable ones that were not answered, each with its interval.
 */
export function evaluationTable({ judged }: Evaluated): Table {
  const shown = VERDICTS.filter(
    (verdict) => verdict !== "failed" || judged.some((one) => one.verdict === verdict),
  );
  const groups = groupsOf(judged).map(({ name, holds }) => ({ name, of: judged.filter(holds) }));
  return tableOf(groups, [
    ["questions", ({ name }) => name, NAME],
    ["asked", ({ of }) => number(of.length), ASKED],
    ...shown.map(countColumn),
    ["% right", ({ of }) => shareText(rightOf(of)), RIGHT],
    ["% abstained", ({ of }) => shareText(abstainedOf(of)), ABSTAINED],
  ]);
}

const countColumn = (verdict: Verdict): ColumnOf<{ readonly of: readonly Judged[] }> => {
  const title = VERDICT_TITLES[verdict];
  return [title, ({ of }) => number(tallyOf(of)[verdict]), { ...RIGHT, least: title.length }];
};

/** The table of several configurations: both shares of each, by language and kind. */
export function comparisonTable(evaluated: readonly Evaluated[]): Table {
  const [first] = evaluated;
  return tableOf(groupsOf(first?.judged ?? []), [
    ["questions", ({ name }) => name, NAME],
    ["asked", ({ holds }) => number(first?.judged.filter(holds).length ?? 0), ASKED],
    ...evaluated.map(({ label, judged }): ColumnOf<Group> => [
      `% right: ${label}`,
      ({ holds }) => shareText(rightOf(judged.filter(holds))),
      RIGHT,
    ]),
    ...evaluated.map(({ label, judged }): ColumnOf<Group> => [
      `% abstained: ${label}`,
      ({ holds }) => shareText(abstainedOf(judged.filter(holds))),
      ABSTAINED,
    ]),
  ]);
}

/** `61.4 % (50-71)`: the share and its 95 % interval; null if there are no questions. */
function shareText(share: Share): string | null {
  if (share.of === 0) return null;
  const { low, high } = wilsonInterval(share);
  const [from, to] = [low, high].map((bound) => Math.round(bound * 100));
  return `${((share.count / share.of) * 100).toFixed(1)} % (${from}-${to})`;
}

/** The questions that only one of two configurations got right. */
export type Difference = {
  readonly first: string;
  readonly second: string;
  readonly only_first: readonly string[];
  readonly only_second: readonly string[];
  readonly p: number;
};

/** Compares the first with each of the others. */
export function differencesOf([first, ...others]: readonly Evaluated[]): readonly Difference[] {
  if (first === undefined) return [];
  return others.map((other) => {
    const good = goodIds(other);
    const base = goodIds(first);
    const onlyFirst = [...base].filter((id) => !good.has(id));
    const onlySecond = [...good].filter((id) => !base.has(id));
    return {
      first: first.label,
      second: other.label,
      only_first: onlyFirst,
      only_second: onlySecond,
      p: signTest(onlyFirst.length, onlySecond.length),
    };
  });
}

const goodIds = ({ judged }: Evaluated): ReadonlySet<string> =>
  new Set(
    judged
      .filter(({ verdict }) => verdict === "right" || verdict === "refused_rightly")
      .map(({ question }) => question.id),
  );

export function describeDifference(difference: Difference): string {
  const { first, second, only_first: onlyFirst, only_second: onlySecond, p } = difference;
  const probability = p < 0.001 ? "under 0.001" : p.toFixed(3);
  return (
    `${formatCount(onlyFirst.length)} were right only with ${first}, ${formatCount(onlySecond.length)} only with ${second}; ` +
    `${p < 0.05 ? "chance hardly does that" : "chance may do that, too"} (p = ${probability}).`
  );
}

const shareJson = (share: Share) => ({ ...share, ...wilsonInterval(share) });

/** The numbers of the table, by the name of the group: `all`, `language de`, `kind date`. */
export const evaluationJson = ({ judged }: Evaluated): Readonly<Record<string, object>> =>
  Object.fromEntries(
    groupsOf(judged).map(({ name, holds }) => {
      const of = judged.filter(holds);
      const [right, refused] = [rightOf(of), abstainedOf(of)].map(shareJson);
      return [name, { ...tallyOf(of), right_share: right, refused_share: refused }];
    }),
  );
