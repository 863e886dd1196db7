import { decisionText, fieldName, valueText } from "../../shared/views/field-blocks.ts";
import { selectFieldsOf, takeFieldDecision } from "../../shared/views/field-reviews.ts";
import type { DecidedField } from "../../shared/store/jobs/field-reviews.ts";
import { stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { classOf } from "../../shared/views/section-style.ts";
import { runAction } from "../run-action.ts";
import type { Answer, Site, SiteRequest } from "../site.ts";
import { notFound } from "../failures.ts";
import { assertId } from "../path-ids.ts";
import { pathTo, webLink } from "../links.ts";
import type { Session } from "../sessions.ts";
import { REVIEW_CHOICES, assertShown, backTo, choiceOf, valueForm } from "./inbox-choices.ts";
import { placeLink } from "./place.ts";

const MOST_FIELDS = 60;

/** Each value of an extraction beside its supporting words, with a form for a decision. */
export function fieldsHtml(run: RunDetail, session: Session): Html {
  const { field_bindings: fields } = run;
  if (fields.length === 0) return markup``;
  const shown = fields.slice(0, MOST_FIELDS);
  const left = fields.length - shown.length;
  return markup`<section aria-labelledby="values"><h2 id="values">Values, and what carries them</h2>
${shown.map((field, ordinal) => fieldHtml(run, { ...field, ordinal }, session))}${left > 0 ? markup`<p class="note">${left} more: nightdesk runs show; nightdesk reviews accept, correct and reject take any of them.</p>` : ""}</section>`;
}

type Field = RunDetail["field_bindings"][number] & { readonly ordinal: number };

function fieldHtml(run: RunDetail, field: Field, session: Session): Html {
  const { pointer, value, grade, state, path, quote, ordinal } = field;
  const words =
    quote === null
      ? markup`<p class="note">No words of the document carry it.</p>`
      : markup`<p class="note">${webLink(path ?? "")}</p><blockquote dir="auto">${quote}</blockquote>${placeLink(run, { path, ordinal: ordinal + 1 })}`;
  return markup`<div class="side ${classOf(grade ?? state)}"><div class="claim"><p dir="auto">${fieldName(pointer)}: ${valueText(value)}</p>
<p class="note">${stateHtml(grade ?? state)} ${decisionText(field) ?? ""}</p>${run.state === "succeeded" ? decisionForm(run, field, session) : ""}</div>
<div class="passage">${words}</div></div>
`;
}

function decisionForm(run: RunDetail, field: Field, session: Session): Html {
  const to = pathTo("runs", run.job_id, "fields", String(field.ordinal));
  return markup`<details id="f-${field.ordinal}"><summary>Decide</summary>${valueForm(to, shownStateOf(run, field), session)}</details>`;
}

/** The state that a decision refers to: while the page is open, the job may run again, or another person may decide. */
const shownStateOf = (
  run: Pick<RunDetail, "run_id">,
  field: DecidedField & { readonly pointer: string },
) => JSON.stringify([run.run_id, field.pointer, decisionText(field)]);

/** Stores the decision on a value of a run. */
export async function takeField(
  { database }: Site,
  { part, form, session }: SiteRequest,
): Promise<Answer> {
  const jobId = assertId(part("run"), "job");
  const fields = await selectFieldsOf(database, jobId);
  const field = fields.find(({ ordinal }) => String(ordinal) === part("ordinal"));
  if (field === undefined) throw notFound("That value is not there any more.");
  const { state: decision, action } = choiceOf(REVIEW_CHOICES, form);
  const [given, reason] = [form.get("correction") ?? "", form.get("reason")];
  const detail = { field: field.pointer, ...(reason === null || reason === "" ? {} : { reason }) };
  const entry = { actor: session.user, action, batchId: field.batch_id, jobId, detail };
  const did = await runAction(database, entry, async () => {
    assertShown(shownStateOf(field, field), form, fieldName(field.pointer));
    return takeFieldDecision(database, field, {
      ...{ decision, given, reason, decidedBy: session.user },
    });
  });
  return backTo(pathTo("runs", jobId), database, did);
}
