import { z } from "zod";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { announceEvents } from "../../shared/store/jobs/batches.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { findAction } from "../../shared/views/operator-actions.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { runAction } from "../run-action.ts";
import { hintsOf, jsonLinesOf, failureTextOf } from "../command-child.ts";
import type { CommandEnd } from "../command-child.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { failureOf } from "../failures.ts";
import { csrfField, headHtml } from "../layout.ts";
import { pathTo } from "../links.ts";
import { outcomePath } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";
import { commandOf, isOfFiles, linesOf, orderOf, outsideOf } from "../start-order.ts";
import type { Order, OrderCommand } from "../start-order.ts";
import { hiddenOrder, KIND_WORDS, modelWords, startForm } from "./start-form.ts";

/** Enough to list the files of a large folder and to write their jobs. */
export const QUEUE_MS = 120_000;
const PREVIEW_MS = 60_000;
const SHOWN_FILES = 100;

/** Starting work: a form, a preview of what would be queued, and a confirmation. */
export const START: readonly Route[] = [
  {
    path: "/start",
    answer: async ({ config }: Site, { session }: SiteRequest): Promise<Answer> =>
      formPage(startForm(orderOf(new URLSearchParams()), config, session)),
  },
  { method: "post", path: "/start", answer: showPreview },
  {
    method: "post",
    path: "/start/edit",
    answer: async ({ config }: Site, { session, form }: SiteRequest): Promise<Answer> =>
      formPage(startForm(orderOf(form), config, session)),
  },
  { method: "post", path: "/start/queue", answer: queueOrder },
];

const formPage = (body: Html): Answer =>
  page({
    title: "Start",
    menu: "/start",
    body: markup`${headHtml("Start", "A batch by one of Nightdesk's commands. What would be queued is shown first.")}
${body}`,
  });

/** The form again, below the error. */
export function formWith(
  message: string,
  order: Order,
  { config }: Site,
  session: Session,
): Answer {
  return formPage(
    markup`<p class="failure" role="alert">${message}</p>${startForm(order, config, session)}`,
  );
}

const previewSchema = z.object({
  files: z.number(),
  bytes: z.number(),
  paths: z.array(z.string()),
  empty_or_missing: z.array(z.string()).optional(),
  skipped_files: z.number().optional(),
});
type Preview = z.infer<typeof previewSchema>;

async function showPreview(site: Site, { form, session }: SiteRequest): Promise<Answer> {
  // Named now, so that a confirmation that is sent twice creates one batch.
  const sent = orderOf(form);
  const order = sent.name.trim() === "" ? { ...sent, name: nameFor(sent.kind) } : sent;
  try {
    const command = commandOf(order, site.config);
    const preview = isOfFiles(command) ? await previewOf(site, command) : null;
    return page({
      title: "Start",
      menu: "/start",
      body: previewHtml(site.config, { order, command, preview }, session),
    });
  } catch (error) {
    const { message, status } = failureOf(error);
    if (status >= 500) throw error;
    return formWith(message, sent, site, session);
  }
}

const nameFor = (kind: string): string => `${kind} ${new Date().toISOString()}`;

/** @throws Failure INPUT_INVALID if no file would be queued, or a file lies outside of all allowed roots */
async function previewOf({ runCommand, config }: Site, command: OrderCommand): Promise<Preview> {
  const words = [...command.words, "--dry-run", "--", ...command.files];
  const limits = { timeMs: PREVIEW_MS, ...inputOf(command) };
  const preview = resultOf(await runCommand(words, limits), previewSchema);
  const outside = outsideOf(preview.paths, config);
  if (outside.length > 0) {
    throw new Failure(
      "INPUT_INVALID",
      `${JSON.stringify(outside[0])} is not there, or lies below none of ${config.security.allowed_roots.join(", ")}.`,
    );
  }
  return preview;
}

const inputOf = ({ input }: OrderCommand) => (input === null ? {} : { input });

/** The result that a command printed. @throws Failure INPUT_INVALID with its message if it failed */
export function resultOf<T>(end: CommandEnd, schema: z.ZodType<T>): T {
  const read = schema.safeParse(end.code === 0 ? jsonLinesOf(end)[0] : undefined);
  if (read.success) return read.data;
  const error = failedSchema.safeParse(end.stdout === "" ? undefined : jsonLinesOf(end)[0]);
  throw new Failure("INPUT_INVALID", error.success ? error.data.error_message : failureTextOf(end));
}

const failedSchema = z.object({ error_message: z.string() });

type Previewed = {
  readonly order: Order;
  readonly command: OrderCommand;
  readonly preview: Preview | null;
};

function previewHtml(
  config: Config,
  { order, command, preview }: Previewed,
  session: Session,
): Html {
  const isEmpty = preview?.files === 0;
  const yes = isEmpty
    ? markup``
    : markup`<button formaction="/start/queue" autofocus>Queue</button> `;
  return markup`${headHtml(`${KIND_WORDS[command.kind]}?`, preview === null ? "One job would be queued." : filesLead(preview))}
<dl class="facts"><dt>Batch</dt><dd>${order.name}</dd>${chosenSettings(order, command, config).map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<form method="post" action="/start/edit">${csrfField(session)}${hiddenOrder(order)}
<p class="actions">${yes}<button class="plain">Change it</button></p></form>
${preview === null ? "" : filesHtml(preview)}`;
}

function filesLead({ files, bytes, skipped_files: skipped = 0 }: Preview): string {
  if (files === 0) return "No file changed since its newest result: nothing would be queued.";
  const left =
    skipped === 0 ? "" : ` ${countOf(skipped, "file")} of other extensions would be left out.`;
  return `${countOf(files, "job")} would be queued, one a file, of ${formatCount(bytes)} bytes together.${left} What counts is which files are there when you say yes.`;
}

/** The chosen settings in words. Of settings left at their defaults it names only the model. */
function chosenSettings(
  order: Order,
  command: OrderCommand,
  { model }: Config,
): readonly (readonly [string, string])[] {
  const { kind } = command;
  const isClassified = kind === "extract" && order.preset === "classify";
  const examples = linesOf(order.examples).length;
  const of = (name: string, value: string): readonly (readonly [string, string])[] =>
    value === "" ? [] : [[name, value]];
  return [
    ...(isOfFiles(command) ? [] : of("Question", order.question)),
    ...(kind === "investigate" ? of("Tools", order.tools) : []),
    ...(kind === "summarize" ? of("Length", order.length) : []),
    ...(kind === "summarize" && order.bullets !== "" ? of("Form", "a list") : []),
    ...(kind === "extract" ? of("Preset", order.preset) : []),
    ...(isClassified ? of("Labels", order.labels) : []),
    ...(isClassified && examples > 0 ? of("Examples", formatCount(examples)) : []),
    ["Model", modelWords(isOfFiles(command) ? "" : order.question, order.model, model)],
    ...of("Checked", order.verify),
    ...(order.when === "now" ? of("Runs", "at any time") : []),
    ...(order.when === "windows" ? of("Runs", order.windows.trim().replaceAll("\n", ", ")) : []),
  ];
}

function filesHtml({ files, paths, empty_or_missing: empty = [] }: Preview): Html {
  const shown = paths.slice(0, SHOWN_FILES);
  const more = files - shown.length;
  const nothing = new Set(empty);
  return markup`<section aria-labelledby="files"><h2 id="files">Files</h2>
${empty.length === 0 ? "" : markup`<p class="failure" role="status">${countOf(empty.length, "file")} of them ${empty.length === 1 ? "is" : "are"} empty or not there, and would be refused.</p>`}
<ul class="items paths">${shown.map((path) => markup`<li><code>${path}</code>${nothing.has(path) ? " (empty, or not there)" : ""}</li>`)}</ul>
${more > 0 ? markup`<p class="note">${formatCount(more)} more.</p>` : ""}</section>`;
}

const queuedSchema = z.object({ batch_id: z.string().nullable(), batch: z.string().nullish() });

async function queueOrder(site: Site, { form, session }: SiteRequest): Promise<Answer> {
  const order = orderOf(form);
  const detail = Object.fromEntries(Object.entries(order).filter(([, value]) => value !== ""));
  let made: string | undefined;
  const did = await runAction(
    site.database,
    { actor: session.user, action: "start", detail },
    async () => {
      const command = commandOf(order, site.config);
      if (isOfFiles(command)) await previewOf(site, command);
      const end = await site.runCommand([...command.words, "--", ...command.files], {
        timeMs: QUEUE_MS,
        ...inputOf(command),
      });
      const { batch_id: batchId } = resultOf(end, queuedSchema);
      if (batchId === null) return "Nothing was queued: no file changed since its newest result.";
      made = batchId;
      return { said: `Batch ${order.name} is queued. ${hintsOf(end)}`.trimEnd(), batchId };
    },
  );
  await announceEvents(site.database);
  if (made !== undefined)
    return { kind: "redirect", to: outcomePath(pathTo("batches", made), did) };
  const message = (await findAction(site.database, did))?.said ?? "Nothing was queued.";
  return formWith(message, order, site, session);
}
