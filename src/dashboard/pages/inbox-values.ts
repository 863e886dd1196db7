import { valueText } from "../../shared/views/field-blocks.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import {
  CHANGED,
  findValueReview,
  takeDecision,
  valuePlace,
  valueTitle,
  writeIdOf,
} from "../../shared/views/value-reviews.ts";
import type { ValueReview } from "../../shared/views/value-reviews.ts";
import { runAction } from "../run-action.ts";
import type { Answer, Site, SiteRequest } from "../site.ts";
import { notFound } from "../failures.ts";
import { link, pathTo } from "../links.ts";
import type { Session } from "../sessions.ts";
import { REVIEW_CHOICES, assertShown, backTo, choiceOf, valueForm } from "./inbox-choices.ts";

export const valueCard = (row: ValueReview, session: Session, draw: Site["draw"]): Html =>
  markup`<article class="card" id="v-${row.review}" tabindex="-1" data-card>
<h2>${valueTitle(row)}: ${valueText(row.value)}</h2>
<p class="note">A value of ${row.batch}, ${link(pathTo("runs", row.job_id), row.custom_id)}, that was not written; since ${draw.time(row.asked_at)}</p>
<p class="remedy">${row.is_changed ? CHANGED : (row.why ?? "")}</p>
${row.quote === null ? markup`<p>No words of the document carry it.</p>` : markup`<div class="words" dir="auto">${row.quote}</div><p class="note">${valuePlace(row) ?? ""}</p>`}
<details id="d-${row.review}"><summary>Decide</summary>${valueForm(pathTo("inbox", "values", row.review), shownStateOf(row), session)}</details>
</article>
`;

/** The state that a decision refers to: a write-back may change value or reason while the page is open. */
const shownStateOf = ({ value, why }: ValueReview): string => JSON.stringify([value, why]);

/** Stores the decision from the card of a value. */
export async function takeValue(
  { database }: Site,
  { part, form, session }: SiteRequest,
): Promise<Answer> {
  const writeId = writeIdOf(part("review"));
  const row = writeId === undefined ? undefined : await findValueReview(database, writeId);
  if (row === undefined) throw notFound("That value is not there any more.");
  const { state: decision, action } = choiceOf(REVIEW_CHOICES, form);
  const correction = decision === "corrected" ? form.get("correction") : null;
  const reason = form.get("reason");
  const entry = {
    ...{ actor: session.user, action, batchId: row.batch_id, jobId: row.job_id },
    detail: { value: valueTitle(row), ...(reason === null || reason === "" ? {} : { reason }) },
  };
  const did = await runAction(database, entry, async () => {
    if (row.state === "waiting") assertShown(shownStateOf(row), form, row.review);
    const words = { decision, correction, reason, decidedBy: session.user };
    return takeDecision(database, row, words);
  });
  return backTo("/inbox", database, did);
}
