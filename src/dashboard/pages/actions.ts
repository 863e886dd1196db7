import { z } from "zod";
import { notifyJobs } from "../../shared/store/jobs/batches.ts";
import { pauseBatch, resumeBatch } from "../../shared/store/jobs/batch-settings.ts";
import { cancelBatch } from "../../shared/store/jobs/close-batches.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { retryJobs } from "../../shared/store/jobs/retry-jobs.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { markup } from "../../shared/views/html-markup.ts";
import { actionTable, selectActions } from "../../shared/views/operator-actions.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { runAction } from "../run-action.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { batchOf } from "../path-ids.ts";
import { csrfField, headHtml } from "../layout.ts";
import { link, pathTo, withQuery } from "../links.ts";
import { backTo } from "./inbox-choices.ts";

type Change = {
  readonly name: "pause" | "resume" | "cancel" | "retry";
  readonly title: string;
  /** Describes the change before the user confirms it. */
  readonly describe: (batch: BatchProgress) => string;
  readonly make: (database: Database, batch: BatchProgress) => Promise<string>;
};

const waitingOf = ({ counts }: BatchProgress): number => counts.queued + counts.parked;

const CHANGES: readonly Change[] = [
  {
    name: "pause",
    title: "Pause",
    describe: (batch) =>
      `No further job of it is begun until it is resumed. ${countOf(batch.counts.running, "job")} that run may finish.`,
    make: async (database, { batchId, name }) => {
      const outcome = await pauseBatch(database, batchId);
      await evaluateHolds(database);
      if (outcome === "ended") return `Batch ${name} has ended: there was nothing to pause.`;
      return `Batch ${name} ${outcome === "paused" ? "is paused" : "was paused already"}.`;
    },
  },
  {
    name: "resume",
    title: "Resume",
    describe: (batch) =>
      `${countOf(waitingOf(batch), "job")} may run again, unless something else holds the batch.`,
    make: async (database, { batchId, name }) => {
      const outcome = await resumeBatch(database, batchId);
      await evaluateHolds(database);
      await notifyJobs(database);
      return `Batch ${name} ${outcome === "resumed" ? "was resumed" : "was not paused"}.`;
    },
  },
  {
    name: "cancel",
    title: "Cancel",
    describe: (batch) =>
      `${countOf(waitingOf(batch), "job")} that wait are ended without a result, and ${countOf(batch.counts.running, "job")} that run are asked to stop. Results that are there stay.`,
    make: async (database, batch) => {
      const { batchId, name, finishedAt } = batch;
      await cancelBatch(database, batchId, () => undefined);
      // A cancelled batch may have waiting jobs too, if the process that cancelled it died.
      if (finishedAt !== null && waitingOf(batch) === 0)
        return `Batch ${name} has ended: there was nothing to cancel.`;
      return `Batch ${name} was cancelled.`;
    },
  },
  {
    name: "retry",
    title: "Try again",
    describe: ({ counts }) =>
      `${countOf(counts.failed + counts.expired + counts.cancelled, "job")} that failed, expired or were cancelled are queued again. Refusals are results and stay: the same question would be refused again. Copies of other files (DUPLICATE) stay, too.`,
    make: async (database, { batchId, name }) => {
      const queued = await retryJobs(database, batchId, ["failed", "expired", "cancelled"]);
      await evaluateHolds(database);
      return `${countOf(queued, "job")} of batch ${name} ${queued === 1 ? "is" : "are"} queued again.`;
    },
  },
];

/** Changes of a batch: each is described first, then confirmed, then recorded. */
const changeRoutes = ({ name, title, describe, make }: Change): readonly Route[] => [
  {
    path: `/batches/:batch/${name}`,
    answer: async ({ database }: Site, { part, session }: SiteRequest): Promise<Answer> => {
      const batch = await batchOf(database, part("batch"));
      const here = pathTo("batches", batch.batchId);
      return page({
        title: `${title}: ${batch.name}`,
        menu: "/batches",
        body: markup`${headHtml(`${title} ${batch.name}?`, describe(batch))}
<form method="post" action="${`${here}/${name}`}">${csrfField(session)}
<p class="actions"><button autofocus>${title}</button> <a class="button plain" href="${here}">No, go back</a></p></form>`,
      });
    },
  },
  {
    method: "post",
    path: `/batches/:batch/${name}`,
    answer: async ({ database }: Site, { part, session }: SiteRequest): Promise<Answer> => {
      const batch = await batchOf(database, part("batch"));
      const { batchId } = batch;
      const did = await runAction(database, { actor: session.user, action: name, batchId }, () =>
        make(database, batch),
      );
      return backTo(pathTo("batches", batchId), database, did);
    },
  },
];

const AUDIT_ROWS = 100;
const idSchema = z.string().regex(/^\d{1,18}$/);

export const ACTIONS: readonly Route[] = [
  ...CHANGES.flatMap(changeRoutes),
  {
    path: "/audit",
    answer: async ({ database, draw }: Site, { query }: SiteRequest): Promise<Answer> => {
      const before = idSchema.safeParse(query.get("before")).data ?? null;
      const rows = await selectActions(database, before, AUDIT_ROWS);
      const last = rows.at(-1)?.action_id;
      const body = markup`${headHtml("What was done here", "Changes that were made on these pages, newest first. The view operator_actions has them.")}
${rows.length === 0 ? markup`<p class="note">Nothing yet.</p>` : draw.table(actionTable(rows))}
<p class="pager">${rows.length === AUDIT_ROWS && last !== undefined ? link(withQuery("/audit", { before: last }), "Older") : ""}</p>`;
      return page({ title: "What was done here", menu: "", body });
    },
  },
];
