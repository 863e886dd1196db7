import type { PastHold } from "../store/jobs/holds.ts";
import { clockChanges } from "../schedules/time.ts";
import { waitingSections } from "./inbox-pages.ts";
import { answerSection, foldCopies, folderOf } from "./answer-sections.ts";
import type { ListedAnswer } from "./answer-sections.ts";
import { CAUSES, formatCause, heldMs } from "./batch-words.ts";
import type { Change, ChangeRow } from "./compare-batches.ts";
import { countOf, formatCount, formatDuration } from "./quantity.ts";
import type { Clock } from "./quantity.ts";
import type { ModelCost } from "./night.ts";
import { describeNight, modelsPicture, nightPicture } from "./night-picture.ts";
import { copiesSection, failuresSection, refusalsSection } from "./report-failures.ts";
import { countsOf, factsOf, headline, heldMsBetween, sum } from "./report-overview.ts";
import { SHOWN } from "./report-rows.ts";
import { DOUBTED_GRADES } from "./results.ts";
import type { CostRow, KindRow, Report } from "./report-rows.ts";
import { openSection, scoreTables, stageTables } from "./report-verification.ts";
import {
  NAME,
  RIGHT,
  WORDS,
  code,
  duration,
  moreBlocks,
  numbers,
  section,
  state,
  strong,
  tableOf,
  time,
} from "./section.ts";
import type { Block, Item, Page, Section } from "./section.ts";
import { groupBy } from "../group-by.ts";

/** The morning report: what needs a person, then the results of a batch, then how it went. */
export function reportPage(report: Report): Page {
  const { batch, madeAt, version } = report;
  const clock = clockOf(report);
  return {
    title: batch.name,
    clock,
    lead: headline(report),
    counts: countsOf(report),
    facts: factsOf(report),
    sections: [
      ...waitingSections(report.waiting, batch.batchId),
      ...failuresSection(report),
      ...openSection(report.verification, batch.batchId),
      ...refusalsSection(report),
      ...changesSection(report),
      ...answersSection(report),
      ...copiesSection(report),
      ...holdsSection(report),
      ...[
        ...foldersSection(report),
        ...nightSection(report),
        ...costsSection(report),
        ...slowestSection(report),
      ].map((each): Section => ({ ...each, fold: "closed" })),
    ],
    colophon: [
      "Made ",
      time(madeAt),
      ` by Nightdesk ${version} from batch `,
      code(batch.batchId),
      `. Times are those of ${clock.zone}; paths are relative to the work root. An answer rests on the bytes that its sha256 names: `,
      code("sha256sum FILE"),
      " confirms it.",
    ],
  };
}

/** The clock of the report. If the UTC offset changes within its span, each time carries its zone: one hour may occur twice. */
function clockOf({ batch, times, madeAt, zone }: Report): Clock {
  const changes = clockChanges(zone, batch.createdAt, times.ended_at ?? madeAt);
  return { zone, zoneSaid: changes.length === 0 ? "once" : "each_time" };
}

/** The picture of the night; empty for a batch without jobs. */
function nightSection({ night, zone, batch }: Report): readonly Section[] {
  if (batch.total === 0) return [];
  const svg = nightPicture(night, zone);
  return [
    section("night", "The night", [{ kind: "picture", svg, words: describeNight(night, zone) }]),
  ];
}

/** Jobs on files by folder; empty when there is only one folder. */
function foldersSection(report: Report): readonly Section[] {
  const { folders } = report;
  if (folders.length < 2) return [];
  const more = (folders[0]?.folders ?? 0) - folders.length;
  return [
    section("folders", "By folder", [
      tableOf(folders, [
        ["Folder", ({ folder }) => folder, NAME],
        numbers("Jobs", ({ jobs }) => jobs),
        numbers("Succeeded", ({ succeeded }) => succeeded),
        numbers("Refused", ({ refused }) => refused),
        numbers("Failed", ({ failed }) => failed),
      ]),
      ...moreBlocks(
        more,
        `${countOf(more, "folder")} more`,
        sqlFor(report, "path, state", "path is not null"),
      ),
    ]),
  ];
}

const lineBlock = (...text: Extract<Block, { kind: "line" }>["text"][]): Block => ({
  kind: "line",
  text: text.flat(),
});

const sqlFor = ({ batch }: Report, columns: string, where: string): string =>
  `select ${columns} from results where batch_id = '${batch.batchId}' and ${where} order by created_at, custom_id`;

/** Answers with their evidence. Digests come first, because they summarise the others. */
function answersSection(report: Report): readonly Section[] {
  const { answers } = report;
  if (answers.length === 0) return [];
  const more = answersLeftOut(report);
  const statement = sqlFor(report, "custom_id, answer", "state = 'succeeded'");
  return [
    section("answers", "Answers and summaries", [
      ...answerGroups(foldCopies(answers)),
      ...moreBlocks(more, `${countOf(more, "answer")} more`, statement),
    ]),
  ];
}

const MOST_OPEN = 10;
const DOUBTED: readonly string[] = DOUBTED_GRADES;

/** Groups answers by folder if there are several: first doubted answers, then jobs without a file, then the folders. */
function answerGroups(listed: readonly ListedAnswer[]): readonly Section[] {
  const placeOf = ({ answer }: ListedAnswer): string =>
    DOUBTED.includes(answer.grade ?? "") ? "To look at first" : folderOf(answer);
  const groups = [...groupBy(listed, placeOf)];
  const opened = new Set(groups.flatMap(([, of]) => of).slice(0, MOST_OPEN));
  const cardOf = (each: ListedAnswer): Section => ({
    ...answerSection(each.answer, "brief", each.copies),
    ...(each.answer.grade === null ? {} : { state: each.answer.grade }),
    fold: opened.has(each) ? "open" : "closed",
  });
  if (groups.length < 2) return listed.map(cardOf);
  return groups.map(([name, of], at) => {
    const copies = sum(of.map((each) => each.copies.length));
    return section(
      `answers-${at + 1}`,
      `${name}: ${countOf(of.length + copies, "answer")}`,
      of.map(cardOf),
    );
  });
}

/** The count of answers in words that the report leaves out. */
function answersLeftOut({ kinds, answers }: Report): number {
  const withWords = kinds.filter(
    ({ kind, state: outcome }) =>
      outcome === "succeeded" && !["index", "command", "embed"].includes(kind),
  );
  return sum(withWords.map(({ jobs }) => jobs)) - answers.length;
}

/** Titles of the changes, in the order of the page: what broke stands first. */
const CHANGE_TITLES: Readonly<Record<Exclude<Change, "same" | "open">, string>> = {
  broken: "Succeeded before, and not now",
  fixed: "Succeeded now, and not before",
  changed: "Another answer than before",
  new: "New",
  gone: "Not in this batch any more",
};

/** What differs from the earlier batch. */
function changesSection({ changes }: Report): readonly Section[] {
  if (changes === undefined) return [];
  const { since, rows } = changes;
  const same = rows.find(({ change }) => change === "same")?.jobs ?? 0;
  const groups = Object.entries(CHANGE_TITLES).flatMap(([change, title]) =>
    rows.filter((row) => row.change === change).map((row) => changeSection(row, title)),
  );
  const others = groups.length === 0 ? ", and nothing else did otherwise" : "";
  const summary = `: ${countOf(same, "job")} came out the same${others}.`;
  const compared = ["Compared with ", strong(since.name), " of ", time(since.created_at), summary];
  return [section("changes", "What changed", [lineBlock(...compared), ...groups])];
}

function changeSection({ change, jobs, examples }: ChangeRow, title: string): Section {
  const more = jobs - examples.length;
  const items = examples.map(
    ({ custom_id: id, kind, code_before: before, code_now: now }): Item => ({
      text: `${id}${before === null ? "" : `, before ${before}`}${now === null ? "" : `, now ${now}`} (${kind})`,
    }),
  );
  const rest = more > 0 ? [{ text: `… and ${formatCount(more)} more` }] : [];
  return section(`change-${change}`, `${title}: ${formatCount(jobs)}`, [
    { kind: "list", items: [...items, ...rest] },
  ]);
}

/** Tokens and time by model and by kind, counted over all attempts. */
function costsSection({ costs, kinds, night, verification }: Report): readonly Section[] {
  if (costs.length === 0) return [];
  return [
    section("costs", "Time and tokens", [
      section("costs-by-model", "By model", [
        ...modelPictures(night.models),
        costTable(costs, ({ model }) => model ?? "no model"),
      ]),
      section("costs-by-kind", "By kind of job", [
        costTable(costs, ({ kind }) => `${kind}, ${countOf(jobsOf(kinds, kind), "job")}`),
      ]),
      ...scoreTables(verification),
      ...stageTables(verification),
    ]),
  ];
}

/** A chart with a single bar adds nothing to its row in the table. */
const modelPictures = (models: readonly ModelCost[]): readonly Block[] =>
  models.length < 2
    ? []
    : [
        {
          kind: "picture",
          svg: modelsPicture(models),
          words: "Each below, with its tokens and time.",
        },
      ];

/** Counts jobs, not runs: a repeated job has several runs. */
const jobsOf = (kinds: readonly KindRow[], kind: string): number =>
  sum(kinds.filter((row) => row.kind === kind).map((row) => row.jobs));

type CostGroup = readonly [name: string, rows: readonly CostRow[]];

const sumOver =
  (of: "runs" | "prompt_tokens" | "completion_tokens" | "model_ms" | "run_ms") =>
  ([, rows]: CostGroup): number =>
    sum(rows.map((row) => row[of]));

function costTable(costs: readonly CostRow[], nameOf: (row: CostRow) => string): Block {
  const groups = [...groupBy(costs, nameOf)];
  return tableOf<CostGroup>(groups.length > 1 ? [...groups, ["All", costs]] : groups, [
    ["Of", ([name]) => name, NAME],
    numbers("Runs", sumOver("runs")),
    numbers("Tokens read", sumOver("prompt_tokens")),
    numbers("Tokens written", sumOver("completion_tokens")),
    ["In the model", (group) => duration(sumOver("model_ms")(group)), RIGHT],
    ["In all", (group) => duration(sumOver("run_ms")(group)), RIGHT],
  ]);
}

/** The jobs whose last run took longest. */
function slowestSection({ slowest }: Report): readonly Section[] {
  if (slowest.length === 0) return [];
  const table = tableOf(slowest, [
    ["Job", (row) => row.custom_id, NAME],
    ["Kind", ({ kind }) => kind],
    ["Model", ({ model }) => model],
    ["Came to", (row) => state(row.state)],
    ["Took", (row) => duration(row.run_ms), RIGHT],
    ["In the model", (row) => duration(row.model_ms), RIGHT],
    numbers("Tokens", ({ tokens }) => tokens),
  ]);
  return [section("slowest", "The slowest", [table])];
}

/** When and why the batch was held: the longest spans by time. */
function holdsSection(report: Report): readonly Section[] {
  const { holds, batch } = report;
  if (holds.length === 0) return [];
  const longest = new Set(holds.toSorted((a, b) => b.held_ms - a.held_ms).slice(0, SHOWN.holds));
  const shown = holds.filter((hold) => longest.has(hold));
  const more = holds.length - longest.size;
  const statement = `select * from batch_holds where batch_id = '${batch.batchId}' order by began_at`;
  return [
    section("holds", "When it stood still, and why", [
      lineBlock(formatHolds(report)),
      tableOf(shown, [
        ["From", (hold) => time(hold.began_at)],
        ["To", ({ ended_at: at }) => (at === null ? "still held" : time(at))],
        ["Held", (hold) => duration(hold.held_ms)],
        ["Why", formatCause, WORDS],
      ]),
      ...moreBlocks(more, `${formatCount(more)} shorter`, statement),
    ]),
  ];
}

/** `It was held for 2 h 15 min in all: host down 1 h 30 min, no room in the budget 45 min 0 s.` */
function formatHolds({ holds, times }: Report): string {
  const { started_at: began } = times;
  const before = began === null ? 0 : heldMsBetween(holds, new Date(0), began);
  const wait =
    before === 0 ? "" : ` Of that, ${formatDuration(before)} passed before its first job began.`;
  return `It was held for ${formatDuration(heldMs(holds))} in all: ${formatReasons(holds)}. No job of it began in that time; what ran went on.${wait}`;
}

/** Time by reason, most first. */
function formatReasons(holds: readonly PastHold[]): string {
  const reasons = [...new Set(holds.map(({ reason }) => reason))].map((reason) => ({
    reason,
    ms: heldMs(holds.filter((hold) => hold.reason === reason)),
  }));
  return reasons
    .sort((a, b) => b.ms - a.ms)
    .map(({ reason, ms }) => `${CAUSES[reason]} ${formatDuration(ms)}`)
    .join(", ");
}
