import type { PastHold } from "../store/jobs/holds.ts";
import type { HeldBackJobs } from "../store/jobs/loads.ts";
import type { ShownCall } from "../store/schedules/hook-calls.ts";
import { waitingSections, WAITS_FOR_PEOPLE } from "./inbox-pages.ts";
import type { BatchWaiting } from "./inbox.ts";
import { countsText, hookCallLines, pastHoldLines, remedyOf, stateText } from "./batch-words.ts";
import type { BatchProgress, ProblemGroup } from "./batches.ts";
import { countOf, formatMoment, formatDuration } from "./quantity.ts";
import { formatBytes } from "./steps.ts";
import { NAME, RIGHT, fact, joinTexts, listSection, state, tableOf, time } from "./section.ts";
import type { Fact, Item, Page, Table } from "./section.ts";

/** What the status page of a batch shows beside its counts. */
type BatchStatus = {
  readonly batch: BatchProgress;
  /** Obstacles that no row of the batch records, such as a missing worker; each is one line. */
  readonly obstacles: readonly string[];
  readonly problems: readonly ProblemGroup[];
  readonly heldBack: HeldBackJobs;
  /** Webhook calls that reported its events. */
  readonly hookCalls: readonly ShownCall[];
  readonly holds: readonly PastHold[];
  readonly waiting: BatchWaiting;
};

/** The status page of a batch: its facts, what holds it, and what did not succeed. */
export function batchPage(status: BatchStatus): Page {
  const { batch, obstacles, problems, hookCalls, holds } = status;
  const remedy = remedyOf(batch);
  const heldFor = pastHoldLines(holds);
  const copies = problems.filter(({ code }) => code === "DUPLICATE");
  const unsuccessful = problems.filter(
    (problem) => !copies.includes(problem) && !WAITS_FOR_PEOPLE.includes(problem.code),
  );
  return {
    title: batch.name,
    facts: [
      fact("batch", batch.name),
      fact("id", batch.batchId),
      fact("state", stateText(batch), ...(remedy === undefined ? [] : [remedy])),
      ...obstacles.map((message) => fact(state("failed", "stopped"), message)),
      jobsFact(status),
      ...settingFacts(batch),
      ...outputFacts(batch),
      ...timeFacts(batch),
      ...(heldFor.length === 0 ? [] : [fact("held", ...heldFor)]),
      ...hookCallLines(hookCalls).map((line) => fact("told", line)),
    ],
    sections: [
      ...waitingSections(status.waiting, batch.batchId, "What waits for a person:"),
      ...listSection("problems", "What did not succeed:", unsuccessful.map(problemItem)),
      ...listSection(
        "copies",
        "Copies, whose results are those of other jobs:",
        copies.map(problemItem),
      ),
    ],
  };
}

const jobsFact = ({ batch, heldBack }: BatchStatus): Fact =>
  fact(
    "jobs",
    joinTexts(`${countOf(batch.total, "job")}: `, countsText(batch)),
    ...(heldBack.jobs === 0
      ? []
      : [
          `${countOf(heldBack.jobs, "job")} held back: ` +
            (heldBack.isLoading
              ? "their file is still being read"
              : "the load was interrupted; enqueue the same file again"),
        ]),
  );

function settingFacts(batch: BatchProgress): readonly Fact[] {
  const { windows, deskWindows, deadlineAt, priority, pinned } = batch;
  const inForce = windows ?? deskWindows;
  const whose = windows === null ? " (of the configuration)" : "";
  return [
    ...(inForce.length === 0 ? [] : [fact("windows", `${inForce.join(", ")}${whose}`)]),
    ...(deadlineAt === null ? [] : [fact("deadline", formatMoment(deadlineAt))]),
    ...(priority === 0 ? [] : [fact("priority", String(priority))]),
    ...(pinned === null ? [] : [fact("kept", PIN_WORDS[pinned])]),
  ];
}

/** How much tool output of investigations is stored. */
const outputFacts = ({ outputs: { bytes, cut } }: BatchProgress): readonly Fact[] =>
  bytes === 0 && cut === 0
    ? []
    : [
        fact(
          "outputs",
          `${formatBytes(bytes)} kept of what tools gave`,
          ...(cut === 0
            ? []
            : [
                `${countOf(cut, "output")} cut to head and tail: tools.limits.batch_artifact_mb is used up`,
              ]),
        ),
      ];

const PIN_WORDS = {
  always: "pinned, whatever its age",
  until_exported: "pinned until exported",
} as const;

function timeFacts({ createdAt, finishedAt }: BatchProgress): readonly Fact[] {
  if (finishedAt === null) return [fact("created", time(createdAt))];
  const took = formatDuration(finishedAt.getTime() - createdAt.getTime());
  return [
    fact("created", time(createdAt)),
    fact("finished", [time(finishedAt), `, after ${took}`]),
  ];
}

function problemItem({ state: name, code, jobs, customIds, message }: ProblemGroup): Item {
  const more = jobs > customIds.length ? ", …" : "";
  const counted = state(name, `${countOf(jobs, "job")} ${name}`);
  return { text: [`${code}, `, counted, `: ${customIds.join(", ")}${more}`], lines: [message] };
}

/** Batches, one a row. */
export const batchTable = (batches: readonly BatchProgress[]): Table =>
  tableOf(batches, [
    ["batch", ({ name }) => name, { ...NAME, cut: "middle", least: 14 }],
    ["state", stateText, { least: 12 }],
    ["jobs", ({ total }) => String(total), RIGHT],
    ["of them", countsText, { least: 20, leftOut: 2 }],
    ["created", ({ createdAt }) => time(createdAt, "minutes"), { leftOut: 1 }],
  ]);
