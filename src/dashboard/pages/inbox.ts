import { formatTask } from "../../shared/job/kinds.ts";
import { decideReview } from "../../shared/store/jobs/draft-reviews.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { decideApproval } from "../../shared/store/investigations/approvals.ts";
import type { NewDecision } from "../../shared/store/investigations/approvals.ts";
import { resolveStep } from "../../shared/store/investigations/reviews.ts";
import { Failure } from "../../shared/failure.ts";
import { parseDuration } from "../../shared/schedules/time.ts";
import {
  assertCorrection,
  selectApprovalDetail,
  selectApprovalGroups,
  selectReviews,
  selectUncertainSteps,
} from "../../shared/views/inbox.ts";
import type {
  ApprovalDetail,
  ApprovalGroup,
  ReviewRow,
  UncertainStep,
} from "../../shared/views/inbox.ts";
import { approvalPage, headOf, riskWords } from "../../shared/views/inbox-pages.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { selectValueReviews } from "../../shared/views/value-reviews.ts";
import { runAction } from "../run-action.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { assertId } from "../path-ids.ts";
import { notFound } from "../failures.ts";
import { csrfField, headHtml } from "../layout.ts";
import { link, pathTo } from "../links.ts";
import { outcomeHtml } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";
import {
  NO_CHOICE_BY_ENTER,
  REVIEW_CHOICES,
  backTo,
  choiceButtons,
  choiceOf,
  noChoice,
} from "./inbox-choices.ts";
import { takeValue, valueCard } from "./inbox-values.ts";

const SHOWN = 50;

/** All that waits for a person: tool calls (equal ones together), answers, steps with an unknown outcome, and withheld values. */
export const INBOX: readonly Route[] = [
  {
    path: "/inbox",
    answer: async (site: Site, request: SiteRequest): Promise<Answer> =>
      page({
        title: "Inbox",
        menu: "/inbox",
        body: await inboxBody(site, request),
        updates: "live",
      }),
  },
  { method: "post", path: "/inbox/approvals/:approval", answer: confirmApproval },
  { method: "post", path: "/inbox/approvals/:approval/decide", answer: takeApproval },
  { method: "post", path: "/inbox/answers/:job", answer: takeReview },
  { method: "post", path: "/inbox/steps/:job/:step", answer: takeStep },
  { method: "post", path: "/inbox/values/:review", answer: takeValue },
];

async function inboxBody({ database, draw }: Site, { session, query }: SiteRequest): Promise<Html> {
  const groups = await selectApprovalGroups(database, {
    ...{ batchId: null, which: "waiting", limit: SHOWN },
  });
  const reviews = await selectReviews(database, { batchId: null, which: "waiting", limit: SHOWN });
  const steps = await selectUncertainSteps(database, null, SHOWN);
  const values = await selectValueReviews(database, {
    ...{ batchId: null, which: "waiting", limit: SHOWN },
  });
  const isEmpty = groups.length + reviews.length + steps.length + values.length === 0;
  return markup`${headHtml("Inbox", isEmpty ? "Nothing waits for a decision." : "What waits for a person. Its jobs cost nothing meanwhile.")}
${await outcomeHtml(database, query)}
${isEmpty ? "" : markup`<p class="note"><kbd>j</kbd> and <kbd>k</kbd> move, <kbd>1</kbd> to <kbd>4</kbd> choose; a choice is shown again before it counts.</p>`}
${groups.map((group) => approvalCard(group, session, draw))}
${reviews.map((review) => reviewCard(review, session, draw))}
${steps.map((step) => stepCard(step, session, draw))}
${values.map((value) => valueCard(value, session, draw))}`;
}

type Choice = {
  readonly verdict: NewDecision["verdict"];
  readonly scope: NewDecision["scope"];
  readonly label: string;
};

const CHOICES: Readonly<Record<string, Choice>> = {
  "1": { verdict: "approve", scope: "once", label: "Approve" },
  "2": { verdict: "approve", scope: "batch", label: "Approve in its batch" },
  "3": { verdict: "approve", scope: "rule", label: "Approve from now on" },
  "4": { verdict: "deny", scope: "once", label: "Deny" },
};

function approvalCard(group: ApprovalGroup, session: Session, draw: Site["draw"]): Html {
  const risks = riskWords(group.risks);
  const batches = group.batches.map(
    (batch, at) =>
      markup`${at === 0 ? "" : ", "}${link(pathTo("batches", batch.batch_id), batch.batch)} (${batch.requests})`,
  );
  return markup`<article class="card" id="a-${group.approval_id}" tabindex="-1" data-card>
<h2>${headOf(group)}</h2>
<p class="note">${group.tool} by ${group.executor}; ${countOf(group.requests, "run")} ${group.requests === 1 ? "waits" : "wait"} for it, of ${batches}; since ${draw.time(group.oldest_at)}, until ${draw.time(group.expires_at)}</p>
${risks === null ? "" : markup`<p class="remedy">${risks}</p>`}
<pre tabindex="0">${group.preview}</pre>
<form method="post" action="${pathTo("inbox", "approvals", group.approval_id)}">${csrfField(session)}${choiceButtons(CHOICES)}</form>
</article>
`;
}

async function approvalOf({ database }: Site, { part }: SiteRequest): Promise<ApprovalDetail> {
  const id = assertId(part("approval"), "request");
  const approval = await selectApprovalDetail(database, id);
  if (approval === undefined) throw notFound(`There is no request ${id}.`);
  return approval;
}

/** Asks for confirmation: the page shows all requests that the choice answers, and takes a reason. */
async function confirmApproval(site: Site, request: SiteRequest): Promise<Answer> {
  const approval = await approvalOf(site, request);
  const choice = choiceOf(CHOICES, request.form);
  const shown = approvalPage(approval, "brief");
  const title = `${choice.label}: ${headOf(approval)}`;
  return page({
    title,
    menu: "/inbox",
    body: markup`${headHtml(`${choice.label}?`, markup`<code>${headOf(approval)}</code>`)}
<p>It answers ${countOf(approval.waiting.length, "request")} that ${approval.waiting.length === 1 ? "waits" : "wait"}${SCOPE_WORDS[choice.scope]}.</p>
<form class="stack" method="post" action="${pathTo("inbox", "approvals", approval.approval_id, "decide")}">${csrfField(request.session)}
<input type="hidden" name="choice" value="${request.form.get("choice") ?? ""}">
<label for="reason">Reason${choice.verdict === "deny" ? ", which the model is told" : ""}</label>
<input id="reason" name="reason" type="text" maxlength="500" ${choice.verdict === "deny" ? markup`required` : ""} autofocus>
${choice.scope === "rule" ? markup`<label for="expires">Holds for</label><input id="expires" name="expires" type="text" value="7d" size="6" aria-describedby="expires-form"><p class="note" id="expires-form">Like 90m, 12h or 7d.</p>` : ""}
<p class="actions"><button>${choice.label}</button> <a class="button plain" href="/inbox">No, go back</a></p></form>
<details id="more"><summary>What it rests on</summary>${site.draw.facts(shown.facts)}${shown.sections.map(site.draw.section)}</details>`,
  });
}

const SCOPE_WORDS: Readonly<Record<NewDecision["scope"], string>> = {
  once: ", and nothing that is asked later",
  job: " in its job, and what that asks later",
  batch: " in its batch, and what that asks later",
  rule: ", and the same from now on until it expires",
};

async function takeApproval(site: Site, request: SiteRequest): Promise<Answer> {
  const { database } = site;
  const approval = await approvalOf(site, request);
  const choice = choiceOf(CHOICES, request.form);
  const reason = (request.form.get("reason") ?? "").trim();
  const expires = request.form.get("expires") ?? "7d";
  const holdsMs = parseDuration(expires.trim());
  if (holdsMs === undefined) {
    throw new Failure(
      "INPUT_INVALID",
      `${JSON.stringify(expires)} is no duration; expected one like 90m, 12h or 7d.`,
    );
  }
  if (choice.verdict === "deny" && reason === "") {
    throw new Failure("INPUT_INVALID", "A denial needs a reason: the model is told it.");
  }
  const { user } = request.session;
  const decision: NewDecision = {
    verdict: choice.verdict,
    scope: choice.scope,
    reason: reason === "" ? null : reason,
    decidedBy: user,
    expiresInSeconds: choice.scope === "rule" ? holdsMs / 1_000 : null,
  };
  const did = await runAction(
    database,
    {
      ...{
        actor: user,
        action: choice.verdict,
        batchId: approval.batch_id,
        jobId: approval.job_id,
      },
      detail: { call: headOf(approval), scope: choice.scope, ...(reason === "" ? {} : { reason }) },
    },
    async () => {
      const decided = await decideApproval(database, approval.approval_id, decision);
      if (decided.kind === "unknown") throw notFound("That request is not there any more.");
      if (decided.kind === "late") {
        throw new Failure(
          "INPUT_INVALID",
          `It was ${decided.state} before${decided.decidedBy === null ? "" : ` by ${decided.decidedBy}`}; nothing was changed.`,
        );
      }
      await evaluateHolds(database);
      const verb = choice.verdict === "approve" ? "Approved" : "Denied";
      return `${verb}: ${headOf(approval)}. ${countOf(decided.answered, "run")} ${decided.answered === 1 ? "goes" : "go"} on.`;
    },
  );
  return backTo("/inbox", database, did);
}

function reviewCard(review: ReviewRow, session: Session, draw: Site["draw"]): Html {
  return markup`<article class="card" id="r-${review.job_id}" tabindex="-1" data-card>
<h2>${formatTask(review.kind, review.input)}</h2>
<p class="note">An answer of ${review.batch}, ${link(pathTo("runs", review.run_id), review.custom_id)}, since ${draw.time(review.requested_at)}</p>
<p class="remedy">${review.why}</p>
<div class="words" dir="auto">${review.draft}</div>
<details id="d-${review.job_id}"><summary>Decide</summary><form class="stack" method="post" action="${pathTo("inbox", "answers", review.job_id)}">${csrfField(session)}${NO_CHOICE_BY_ENTER}
<label>Reason, which is needed to reject<input name="reason" type="text" maxlength="500"></label>
<label>Answer in your own words, where it is corrected<textarea name="correction"></textarea></label>
${choiceButtons(REVIEW_CHOICES)}</form></details>
</article>
`;
}

async function takeReview(
  { database }: Site,
  { part, form, session }: SiteRequest,
): Promise<Answer> {
  const jobId = assertId(part("job"), "job");
  const choice = choiceOf(REVIEW_CHOICES, form);
  const reason = (form.get("reason") ?? "").trim();
  // A browser sends the line ends of a textarea as CRLF.
  const correction = (form.get("correction") ?? "").replaceAll("\r\n", "\n").trim();
  if (choice.state === "rejected" && reason === "")
    throw new Failure("INPUT_INVALID", "A rejection needs a reason: the job is refused with it.");
  if (choice.state === "corrected") await assertCorrected(database, jobId, correction);
  const detail = reason === "" ? {} : { reason };
  const entry = { actor: session.user, action: choice.action, jobId, detail };
  const did = await runAction(database, entry, async () => {
    const decided = await decideReview(database, jobId, {
      state: choice.state,
      correction: choice.state === "corrected" ? correction : null,
      facts: [],
      reason: reason === "" ? null : reason,
      decidedBy: session.user,
    });
    if (decided.kind !== "decided")
      throw new Failure("INPUT_INVALID", "Its job does not wait any more; nothing was changed.");
    return `The answer is ${choice.state}; its job goes on.`;
  });
  return backTo("/inbox", database, did);
}

async function assertCorrected(
  database: Site["database"],
  jobId: string,
  correction: string,
): Promise<void> {
  if (correction === "")
    throw new Failure("INPUT_INVALID", "A correction needs the answer in your own words.");
  const waiting = { batchId: null, which: "waiting", jobId, limit: 1 } as const;
  for (const review of await selectReviews(database, waiting)) assertCorrection(review, correction);
}

const STEP_CHOICES = {
  "1": { label: "It was carried out", state: "done" },
  "2": { label: "It was not", state: "skipped" },
} as const;

const stepCard = (step: UncertainStep, session: Session, draw: Site["draw"]): Html =>
  markup`<article class="card" id="s-${step.job_id}-${step.step}" tabindex="-1" data-card>
<h2>Was ${step.tool} carried out?</h2>
<p class="note">A worker was lost during step ${step.step} of ${link(pathTo("runs", step.job_id), step.custom_id)}, ${step.batch}, since ${draw.time(step.started_at)}. Look whether it was done.</p>
<pre tabindex="0">${JSON.stringify(step.args, null, 2)}</pre>
<form method="post" action="${pathTo("inbox", "steps", step.job_id, String(step.step))}">${csrfField(session)}${choiceButtons(STEP_CHOICES)}</form>
</article>
`;

async function takeStep({ database }: Site, { part, form, session }: SiteRequest): Promise<Answer> {
  const jobId = assertId(part("job"), "job");
  const step = Number(/^\d{1,6}$/.exec(part("step"))?.[0] ?? Number.NaN);
  const choice = choiceOf(STEP_CHOICES, form);
  if (Number.isNaN(step)) throw noChoice();
  const entry = {
    ...{ actor: session.user, action: "resolve" as const, jobId },
    detail: { step, state: choice.state },
  };
  const did = await runAction(database, entry, async () => {
    const resolved = await resolveStep(database, jobId, step, {
      ...{ state: choice.state, decidedBy: session.user },
    });
    if (resolved.kind !== "resolved")
      throw new Failure(
        "INPUT_INVALID",
        "That step is not uncertain any more; nothing was changed.",
      );
    await evaluateHolds(database);
    return `Step ${step} counts as ${choice.state === "done" ? "carried out" : "not made"}.`;
  });
  return backTo("/inbox", database, did);
}
