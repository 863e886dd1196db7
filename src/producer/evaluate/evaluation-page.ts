import { formatCount } from "../../shared/views/quantity.ts";
import { NAME, RIGHT, number, tableOf } from "../../shared/views/section.ts";
import type { ColumnOf, Table } from "../../shared/views/section.ts";
import { abstainedOf, rightOf, signTest, tallyOf, VERDICTS, wilsonInterval } from "./score.ts";
import type { Judged, Share, Tally, Verdict } from "./score.ts";

/** What a configuration or a model made of the questions, in the order of the file. */
export type Evaluated = { readonly label: string; readonly judged: readonly Judged[] };

type Group = { readonly name: string; readonly holds: (one: Judged) => boolean };

/** All questions, those of each language and those of each kind, where there are several. */
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

/** Left out first on a narrow terminal: the counts tell it, too. */
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
 * One configuration: how many questions came to what, by language and kind; of those with an answer the share that was
 * answered right, and of those without one the share that was not answered, each with its interval.
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

/** Several side by side: of each both shares, by language and kind. */
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

/** `61.4 % (50-71)`: the share and its interval of 95 %; null where nothing was asked. */
function shareText(share: Share): string | null {
  if (share.of === 0) return null;
  const { low, high } = wilsonInterval(share);
  const [from, to] = [low, high].map((bound) => Math.round(bound * 100));
  return `${((share.count / share.of) * 100).toFixed(1)} % (${from}-${to})`;
}

/** What came out well with one of two and not with the other. */
export type Difference = {
  readonly first: string;
  readonly second: string;
  readonly only_first: readonly string[];
  readonly only_second: readonly string[];
  readonly p: number;
};

/** Each of the others beside the first. */
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
    `${formatCount(onlyFirst.length)} came out well with ${first} alone, ${formatCount(onlySecond.length)} with ${second} alone; ` +
    `${p < 0.05 ? "chance hardly does that" : "chance may do that, too"} (p = ${probability}).`
  );
}

type ShareJson = Share & { readonly low: number; readonly high: number };
type GroupJson = Tally & { readonly right_share: ShareJson; readonly refused_share: ShareJson };

const shareJson = (share: Share): ShareJson => ({ ...share, ...wilsonInterval(share) });

/** The same as numbers, by the name of the group: `all`, `language de`, `kind date`. */
export const evaluationJson = ({ judged }: Evaluated): Readonly<Record<string, GroupJson>> =>
  Object.fromEntries(
    groupsOf(judged).map(({ name, holds }) => {
      const group = judged.filter(holds);
      const shares = {
        right_share: shareJson(rightOf(group)),
        refused_share: shareJson(abstainedOf(group)),
      };
      return [name, { ...tallyOf(group), ...shares }];
    }),
  );
