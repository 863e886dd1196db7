import { formatTask } from "../job/kinds.ts";
import { retryCommand } from "./batch-words.ts";
import { WAITS_FOR_PEOPLE } from "./inbox-pages.ts";
import { countOf, formatCount } from "./quantity.ts";
import { explainCode } from "./remedies.ts";
import type { FailureGroupRow, Report } from "./report-rows.ts";
import { code, moreBlocks, section, strong } from "./section.ts";
import type { Block, Item, Section, Text } from "./section.ts";

/** Failed, expired, cancelled and parked jobs, with the commands that repair them. */
export const failuresSection = (report: Report): readonly Section[] =>
  groupSection(report, isFailure, {
    ...{ id: "failures", title: "What failed, and what to do" },
    before: [
      {
        kind: "line",
        text: "When the cause is gone, what failed is run again, and nothing else is:",
      },
      { kind: "commands", language: "sh", lines: fixCommands(report) },
    ],
  });

/** Correct results without an answer. */
export const refusalsSection = (report: Report): readonly Section[] =>
  groupSection(report, (group) => group.state === "refused", {
    ...{ id: "refusals", title: "What was refused, and why" },
    before: [
      {
        kind: "line",
        text: "A refusal is a result: the evidence for an answer was not there, or could not be had.",
      },
    ],
  });

/** Duplicates: jobs without a result of their own, because a job on another file ran in their place. */
export const copiesSection = (report: Report): readonly Section[] =>
  groupSection(report, ({ error_code: name }) => isDuplicate(name), {
    ...{ id: "copies", title: "Copies, worked once", before: [] },
  });

type Heading = { readonly id: string; readonly title: string; readonly before: readonly Block[] };

function groupSection(
  report: Report,
  holds: (group: FailureGroupRow) => boolean,
  { id, title, before }: Heading,
): readonly Section[] {
  const groups = report.failureGroups.filter(holds);
  if (groups.length === 0) return [];
  return [section(id, title, [...before, ...groups.map((group) => failureSection(group, report))])];
}

const isFailure = ({ state: outcome, error_code: name }: FailureGroupRow): boolean =>
  outcome !== "refused" && !isDuplicate(name) && !WAITS_FOR_PEOPLE.includes(name);

const isDuplicate = (name: string): boolean => name === "DUPLICATE";

/** Commands that run unsuccessful jobs again. They name the batch by its id, which needs no quotes in any shell. */
function fixCommands({ batch, failureGroups }: Report): readonly string[] {
  const isParked = failureGroups.some((row) => row.state === "parked" && isFailure(row));
  return [
    ...(batch.counts.failed + batch.counts.expired > 0 ? [retryCommand(batch)] : []),
    ...(isParked ? ["nightdesk doctor"] : []),
    `nightdesk batch show ${batch.batchId}`,
  ];
}

function failureSection(group: FailureGroupRow, { batch }: Report): Section {
  const { state: outcome, error_code: name, jobs, told, messages, model } = group;
  const { meaning, remedy } = explainCode(name, model);
  const statement = `select custom_id, error_message from results where batch_id = '${batch.batchId}' and state = '${outcome}' and error_code = '${name}' order by created_at, custom_id`;
  return {
    kind: "section",
    id: `${outcome}-${name}`,
    title: `${name}, ${countOf(jobs, "job")} ${outcome}`,
    state: outcome,
    blocks: [
      { kind: "advice", text: `${meaning} ${remedy}`.trim() },
      { kind: "list", items: messages.map(messageItem) },
      ...moreBlocks(jobs - told, `${formatCount(jobs - told)} more`, statement),
    ],
  };
}

type Message = FailureGroupRow["messages"][number];

/** The task of a job and its message. Jobs with the same message share one item. */
function messageItem({ error_message: message, jobs, examples }: Message): Item {
  const [first] = examples;
  if (jobs === 1 && first !== undefined) return { text: taskText(first), lines: [message] };
  const more = jobs - examples.length;
  return {
    mark: `${formatCount(jobs)} ×`,
    text: message,
    lines: [
      ...examples.map(taskText),
      ...(more > 0 ? [`and ${formatCount(more)} more that were told the same`] : []),
    ],
  };
}

/** The question or path of a job, and its id if that differs. */
function taskText({ custom_id: id, kind, input }: Message["examples"][number]): Text {
  const task = formatTask(kind, input);
  return task === "" || task === id ? [strong(id)] : [strong(task), " ", code(id)];
}
