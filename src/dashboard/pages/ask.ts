import { z } from "zod";
import { announceEvents } from "../../shared/store/jobs/batches.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { findFollowed } from "../../shared/store/jobs/followed.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import { stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { formatOpenJob } from "../../shared/views/open-job.ts";
import type { OpenJob } from "../../shared/views/open-job.ts";
import { findAction } from "../../shared/views/operator-actions.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { runAction } from "../run-action.ts";
import { hintsOf } from "../command-child.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { assertId } from "../path-ids.ts";
import { csrfField } from "../layout.ts";
import { link, pathTo } from "../links.ts";
import { outcomePath } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";
import { assertWhole, orderOf } from "../start-order.ts";
import { formWith, QUEUE_MS, resultOf } from "./start.ts";

/** The form for questions on each page: it queues the question at once, and redirects to the page with its steps and answer. */
export const ASK: readonly Route[] = [{ method: "post", path: "/ask", answer: askQuestion }];

const queuedSchema = z.object({ job_id: z.string(), batch_id: z.string() });

async function askQuestion(site: Site, { form, session }: SiteRequest): Promise<Answer> {
  const order = { ...orderOf(form), kind: "ask", when: "desk" };
  const question = order.question.trim();
  const former = form.get("follows") ?? "";
  const follows = former === "" ? [] : [`--follows=${assertId(former, "question")}`];
  let jobId: string | undefined;
  const did = await runAction(
    site.database,
    { actor: session.user, action: "start", detail: { kind: "ask", question, follows: former } },
    async () => {
      assertWhole(order);
      const words = ["ask", "--json", "--no-wait", "--now", ...follows, "--", "-"];
      const end = await site.runCommand(words, { timeMs: QUEUE_MS, input: question });
      const queued = resultOf(end, queuedSchema);
      jobId = queued.job_id;
      return { said: `The question is queued. ${hintsOf(end)}`, batchId: queued.batch_id };
    },
  );
  await announceEvents(site.database);
  if (jobId !== undefined) return { kind: "redirect", to: outcomePath(pathTo("runs", jobId), did) };
  const message = (await findAction(site.database, did))?.said ?? "Nothing was queued.";
  return formWith(message, order, site, session);
}

/** The steps of a running job. Without script the page reloads by itself. */
export const stepsHtml = (job: OpenJob): Html =>
  markup`<section class="steps" aria-labelledby="steps-now"><h2 id="steps-now">Not answered yet</h2>
<p role="status">${stateHtml(job.state)} ${formatOpenJob(job)}</p>
<ol>${(job.steps ?? []).map((step) => markup`<li>${step}</li>`)}</ol></section>`;

const followingSchema = z.object({
  question: z.string(),
  options: z.object({ follows: z.string() }),
});

type Place = { readonly database: Queryable; readonly session: Session };

/** The question that this one follows up, with a button to ask without it; empty for a question that follows none. */
export async function carriedHtml(
  { database, session }: Place,
  input: Readonly<Record<string, unknown>>,
): Promise<Html> {
  const following = followingSchema.safeParse(input).data;
  if (following === undefined) return markup``;
  const { follows } = following.options;
  const carried = await findFollowed(database, follows);
  const words =
    carried === undefined
      ? "It follows a question that is not there any more."
      : markup`It follows ${link(pathTo("runs", follows), carried.question)}${filesText(carried)}.`;
  return markup`<form class="carried" method="post" action="/ask">${csrfField(session)}<input type="hidden" name="question" value="${following.question}">
<p class="note" dir="auto">${words} <button class="quiet">Ask it without that</button></p></form>`;
}

/** A form for a follow-up question; empty if the job is no question with a result. */
export async function followUpHtml(
  { database, session }: Place,
  { kind, job_id: jobId }: RunDetail,
): Promise<Html> {
  const carried = kind === "ask" ? await findFollowed(database, jobId) : undefined;
  if (carried === undefined) return markup``;
  return markup`<details id="follow-up"><summary>Ask a follow-up</summary>
<form class="stack" method="post" action="/ask">${csrfField(session)}
<label for="follow-up-question">The next question</label>
<textarea id="follow-up-question" name="question" rows="2" required></textarea>
<label class="check"><input type="checkbox" name="follows" value="${jobId}" checked> <span dir="auto">Carry along: “${carried.question}”${filesText(carried)}; the answer is not carried</span></label>
<p class="actions"><button>Ask</button></p></form></details>`;
}

const filesText = ({ paths }: Followed): string =>
  paths.length === 0 ? "" : `, of ${paths.join(", ")}`;
