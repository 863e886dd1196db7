import { resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { DEFAULT_PRESET } from "../../shared/config/tool-presets.ts";
import { routeModels } from "../../shared/job/route-models.ts";
import { VERIFY_MODES } from "../../shared/job/verify-modes.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { csrfField } from "../layout.ts";
import type { Session } from "../sessions.ts";
import { LENGTHS, modelsOf, ORDER_FIELDS, toolPresetsOf } from "../start-order.ts";
import type { Order, OrderField, StartedKind } from "../start-order.ts";

export const KIND_WORDS: Readonly<Record<StartedKind, string>> = {
  summarize: "Summarize files",
  extract: "Take fields out of files",
  ask: "Answer a question",
  investigate: "Investigate with tools",
};

const PRESET_WORDS = {
  actions: "action items",
  people: "people and dates",
  classify: "a label of those below",
} as const;

type Choice = readonly [value: string, words: string];

/** The form with the values of an order. Without script all parts are shown, each with its purpose. */
export function startForm(order: Order, config: Config, session: Session): Html {
  const { windows, verify, model, security } = config;
  const kinds = Object.entries(KIND_WORDS);
  const below = security.allowed_roots.map((name) => resolve(config.roots.workroot, name));
  const hours = windows.length === 0 ? "at any time" : windows.join(", ");
  return markup`<form class="stack order" method="post" action="/start">${csrfField(session)}
<fieldset class="choices"><legend>What to do</legend>${kinds.map(([kind, words], at) => radio("kind", [kind, words], order.kind === "" ? at === 0 : order.kind === kind))}</fieldset>
<fieldset class="part" data-for="summarize extract"><legend>Files</legend>
<label for="files">Files, folders or globs below ${below.join(", ")}, one a line</label>
<textarea id="files" name="files" class="code" rows="4" spellcheck="false" placeholder="**/*.md">${order.files}</textarea>
${checkbox("changed", "Only files that changed since their newest result", order)}</fieldset>
<fieldset class="part" data-for="summarize"><legend>Summaries</legend>
${select("length", "Length", [["", "as the model likes"], ...LENGTHS.map(same)], order)}
${checkbox("bullets", "A list instead of a paragraph", order)}</fieldset>
<fieldset class="part" data-for="extract"><legend>Fields</legend>
${select("preset", "Preset", Object.entries(PRESET_WORDS), order)}
<label class="for-labels">Labels, parted by commas<input name="labels" value="${order.labels}" placeholder="invoice, letter, minutes"></label>
<label class="for-labels">Examples, one a line; without labels above, theirs are chosen from<textarea name="examples" class="code" rows="3" spellcheck="false" placeholder='{"text": "Please transfer 480.00 by 24 May.", "label": "invoice"}'>${order.examples}</textarea></label></fieldset>
<fieldset class="part" data-for="ask investigate"><legend>Question</legend>
<label for="question">The question, or what to look into</label>
<textarea id="question" name="question" rows="3">${order.question}</textarea></fieldset>
<fieldset class="part" data-for="investigate"><legend>Tools</legend>
${select("tools", "Preset of tools", toolPresetsOf(config).map(same), { ...order, tools: order.tools === "" ? DEFAULT_PRESET : order.tools })}</fieldset>
<fieldset class="part"><legend>How, and when</legend>
${select("model", "Model", [["", `as configured (${modelWords("", "", model)})`], ...modelsOf(config).map((name) => [name, modelWords("", name, model)] as const)], order)}
${select("verify", "Check answers", [["", `as configured (${verify.mode})`], ...VERIFY_MODES.map(same)], order)}
${select(
  "when",
  "Run",
  [
    ["desk", `as configured: ${hours}`],
    ["now", "at any time"],
    ["windows", "in the windows below"],
  ],
  order,
)}
<label class="for-windows">Windows, one a line<textarea name="windows" class="code" rows="2" spellcheck="false" placeholder="22:00-06:00 Europe/Berlin">${order.windows}</textarea></label>
<label>Name of the batch; a name that is there is added to<input name="name" value="${order.name}" maxlength="200"></label></fieldset>
<p class="actions"><button>Show what would be queued</button></p></form>`;
}

/** The models that will answer: one for both passes, or two; a question may select others by its words. */
export function modelWords(question: string, model: string, settings: Config["model"]): string {
  const { first, second } = routeModels(question, settings, model === "" ? {} : { model });
  const names = [...new Set([first.name, second.name])].filter((name) => name !== null);
  if (names.length === 0) return "none is configured: model.name";
  return model === "" || names[0] === model
    ? names.join(", then ")
    : `${model}: ${names.join(", ")}`;
}

const same = (value: string): Choice => [value, value];

const radio = (name: OrderField, [value, words]: Choice, isChosen: boolean): Html =>
  isChosen
    ? markup`<label><input type="radio" name="${name}" value="${value}" checked> ${words}</label>`
    : markup`<label><input type="radio" name="${name}" value="${value}"> ${words}</label>`;

const checkbox = (name: OrderField, words: string, order: Order): Html =>
  order[name] === ""
    ? markup`<label class="check"><input type="checkbox" name="${name}" value="yes"> ${words}</label>`
    : markup`<label class="check"><input type="checkbox" name="${name}" value="yes" checked> ${words}</label>`;

const select = (name: OrderField, words: string, choices: readonly Choice[], order: Order): Html =>
  markup`<label>${words}<select name="${name}">${choices.map(([value, text]) =>
    value === order[name]
      ? markup`<option value="${value}" selected>${text}</option>`
      : markup`<option value="${value}">${text}</option>`,
  )}</select></label>`;

/** The order as hidden fields, to send with the confirmation. */
export const hiddenOrder = (order: Order): readonly Html[] =>
  ORDER_FIELDS.filter((name) => order[name] !== "").map(
    (name) => markup`<input type="hidden" name="${name}" value="${order[name]}">`,
  );
