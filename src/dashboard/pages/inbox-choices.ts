import { Failure } from "../../shared/failure.ts";
import { announceEvents } from "../../shared/store/jobs/batches.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { unchanged } from "../../shared/views/value-reviews.ts";
import type { Answer, Site } from "../site.ts";
import { csrfField } from "../layout.ts";
import { outcomePath } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";

/** The decisions on an answer or a value. */
export const REVIEW_CHOICES = {
  "1": { label: "Accept", state: "accepted", action: "accept" },
  "2": { label: "Correct", state: "corrected", action: "correct" },
  "4": { label: "Reject", state: "rejected", action: "reject" },
} as const;

export const choiceButtons = (
  choices: Readonly<Record<string, { readonly label: string }>>,
): Html =>
  markup`<p class="actions">${Object.entries(choices).map(([key, { label }]) => markup`<button class="plain" name="choice" value="${key}" data-key="${key}"><kbd>${key}</kbd> ${label}</button> `)}</p>`;

/** The first button of a form, without effect: else Enter in a field would press the button that accepts. */
export const NO_CHOICE_BY_ENTER = markup`<button hidden disabled></button>`;

/** A form for a decision on a value. @param to its action @param shown the state of the value that the page shows */
export const valueForm = (to: string, shown: string, session: Session): Html =>
  markup`<form class="stack" method="post" action="${to}">${csrfField(session)}${NO_CHOICE_BY_ENTER}
<input type="hidden" name="shown" value="${shown}">
<label>Value in your own words, where it is corrected<input name="correction" type="text" maxlength="2000"></label>
<label>Reason, which is kept beside it<input name="reason" type="text" maxlength="500"></label>
${choiceButtons(REVIEW_CHOICES)}</form>`;

/** Refuses a decision on a value that has changed since its page was loaded. @throws Failure INPUT_INVALID */
export function assertShown(shown: string, form: URLSearchParams, what: string): void {
  if (form.get("shown") !== shown)
    throw unchanged(`${what} is not as your page showed it: look at it again.`);
}

export const noChoice = (): Failure =>
  new Failure("INPUT_INVALID", "No choice was made: expected 1, 2, 3 or 4.");

/** The chosen button. @throws Failure INPUT_INVALID */
export function choiceOf<Of extends object>(
  choices: Readonly<Record<string, Of>>,
  form: URLSearchParams,
): Of {
  const choice = Object.entries(choices).find(([key]) => key === form.get("choice"))?.[1];
  if (choice === undefined) throw noChoice();
  return choice;
}

/** Notifies open browsers, and redirects back to a page that shows the outcome. */
export async function backTo(
  path: string,
  database: Site["database"],
  did: string,
): Promise<Answer> {
  await announceEvents(database);
  return { kind: "redirect", to: outcomePath(path, did) };
}
