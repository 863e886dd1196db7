import { KINDS } from "./job.ts";
import type { JobInput, Kind } from "./job.ts";
import { isRecord } from "../schema/json-value.ts";
import { routeChat, routeModels } from "./route-models.ts";
import type { Route, RoutingSettings } from "./route-models.ts";

type InputOf<K extends Kind> = Extract<JobInput, { readonly kind: K }>;

/** An input as a row stores it. */
type StoredInput = Readonly<Record<string, unknown>>;

/** Model and route that a rerun replaces; a missing key keeps the value of the old job. */
type OtherModel = {
  readonly model?: string | undefined;
  readonly route?: "fast" | "big" | undefined;
};

/** Lanes beside the queue: a worker claims their jobs from the rows, and each lane has its own limit of concurrent jobs. */
export type Lane = "command" | "notify";

/** Properties of a kind of job, except its input (job.ts) and the code that runs it (worker/jobs). */
type KindDescriptor<Input extends JobInput> = {
  /** The task of a job in one line: its question, file, title or first words. */
  readonly title: (input: StoredInput) => string;
  /** The lane that runs its jobs; undefined when the queue does. */
  readonly lane?: Lane;
  /** The hosts that its runs call: while a host is down, jobs of the kind wait. */
  readonly calls: readonly ("model" | "embedder")[];
  /** Whether its runs read the original files, which a worker with documents.from: store does not have. */
  readonly needsFiles?: true;
  /** Returns the input with another model or route; a kind without one of them ignores it. */
  readonly withModel: (input: Input, other: OtherModel) => Input;
};

/** A kind that language models answer, so that a run can be repeated from their replies. */
type Answered<Input extends JobInput> = {
  /** Chooses the models of both passes. */
  readonly route: (input: Input, settings: RoutingSettings) => Route;
  readonly notRepeatable: null;
};

type Unanswered = {
  readonly route: null;
  /** Why a run can't be repeated: its record holds no replies. */
  readonly notRepeatable: string;
};

/** The title of a question or task, after the file that it is about. */
const titleWithFile =
  (key: string) =>
  (input: StoredInput): string =>
    [textAt("path")(input), textAt(key)(input)].filter((text) => text !== "").join(": ");

/** A kind whose input has `options` with the model and route that write the answer. */
const answeredKind = <Input extends JobInput & { readonly options?: OtherModel | undefined }>(
  title: string,
  question: (input: Input) => string = () => "",
) => ({
  title: title === "path" ? textAt(title) : titleWithFile(title),
  route: (input: Input, settings: RoutingSettings) =>
    routeModels(question(input), settings, {
      model: input.options?.model,
      route: input.options?.route,
    }),
  withModel: (input: Input, other: OtherModel): Input => ({
    ...input,
    options: { ...input.options, ...other },
  }),
  notRepeatable: null,
});

/** A kind that no language model answers. */
const WITHOUT_MODEL = { route: null, withModel: <Input>(input: Input): Input => input };

const textAt =
  (key: string) =>
  (input: StoredInput): string => {
    const value = input[key];
    return typeof value === "string" ? value : "";
  };

const KIND_TABLE = {
  ask: {
    ...answeredKind<InputOf<"ask">>("question", ({ question }) => question),
    calls: ["model", "embedder"],
  },
  summarize: { ...answeredKind<InputOf<"summarize">>("path"), calls: ["model"] },
  extract: { ...answeredKind<InputOf<"extract">>("path"), calls: ["model"] },
  digest: { ...answeredKind<InputOf<"digest">>("title"), calls: ["model"] },
  investigate: {
    ...answeredKind<InputOf<"investigate">>("task", ({ task }) => task),
    calls: ["model", "embedder"],
  },
  check: {
    ...WITHOUT_MODEL,
    title: textAt("question"),
    calls: ["model", "embedder"],
    notRepeatable: "it is a part of the run whose answer it checks",
  },
  examine: {
    ...WITHOUT_MODEL,
    title: textAt("model"),
    calls: ["model"],
    withModel: (input, { model }) => (model === undefined ? input : { ...input, model }),
    notRepeatable: "what a model is worth is asked anew: nightdesk models examine",
  },
  chat: {
    title: (input) => textAt("prompt")(input) || lastMessage(input["messages"]),
    calls: ["model"],
    route: (input, settings) => {
      const choice = routeChat(settings, input.model);
      return { first: choice, second: choice };
    },
    withModel: (input, { model }) => (model === undefined ? input : { ...input, model }),
    notRepeatable: null,
  },
  embed: {
    ...WITHOUT_MODEL,
    title: (input) => ("chunks" in input ? "chunks of the index" : firstText(input["text"])),
    calls: ["embedder"],
    notRepeatable: "its vectors are made by an embedder, and no reply of a model is on record",
  },
  sync: {
    ...WITHOUT_MODEL,
    title: textAt("source"),
    calls: [],
    notRepeatable: "it read another place as it was, and no reply of a model is on record",
  },
  index: {
    ...WITHOUT_MODEL,
    title: () => "",
    calls: ["embedder"],
    needsFiles: true,
    notRepeatable: "it read the sources as they were, and no reply of a model is on record",
  },
  ocr: {
    ...WITHOUT_MODEL,
    title: textAt("path"),
    calls: [],
    needsFiles: true,
    notRepeatable: "what it read is on record page by page, and no reply of a model is",
  },
  command: {
    ...WITHOUT_MODEL,
    title: ({ command }) => (Array.isArray(command) ? command.join(" ") : ""),
    // A command may wait for jobs that it queued. In the queue it would occupy the only place of a small worker, and they would
    // never run.
    lane: "command",
    calls: [],
    notRepeatable: "its command is a process of its own, whose jobs have runs of theirs",
  },
  notify: {
    ...WITHOUT_MODEL,
    title: textAt("target"),
    lane: "notify",
    calls: [],
    notRepeatable: "it told others that a batch had ended",
  },
} satisfies {
  readonly [K in Kind]: KindDescriptor<InputOf<K>> & (Answered<InputOf<K>> | Unanswered);
};

type AnsweredKind = {
  [K in Kind]: (typeof KIND_TABLE)[K]["route"] extends null ? never : K;
}[Kind];

/** The input of a job that a model answers, and that can be repeated from the model's replies. */
export type RepeatableInput = InputOf<AnsweredKind>;

type Descriptors = {
  readonly [K in Kind]: KindDescriptor<InputOf<K>> &
    (K extends AnsweredKind ? Answered<InputOf<K>> : Unanswered);
};

const DESCRIPTORS: Descriptors = KIND_TABLE;

function lastMessage(messages: unknown): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isRecord(last) ? textAt("content")(last) : "";
}

function firstText(text: unknown): string {
  const first: unknown = Array.isArray(text) ? text[0] : text;
  return typeof first === "string" ? first : "";
}

export const kindOf = <K extends Kind>(kind: K): Descriptors[K] => DESCRIPTORS[kind];

/** The kinds whose jobs run in that lane. */
export const kindsInLane = (lane: Lane): readonly Kind[] =>
  KINDS.filter((kind) => kindOf(kind).lane === lane);

/** The kinds whose jobs take no place in the queue. */
export const KINDS_BESIDE_THE_QUEUE: readonly Kind[] = KINDS.filter(
  (kind) => DESCRIPTORS[kind].lane !== undefined,
);

/** The descriptor of an input's kind, typed by the input. */
const descriptorOf = (
  input: JobInput,
): KindDescriptor<JobInput> & (Answered<JobInput> | Unanswered) =>
  DESCRIPTORS[input.kind] as unknown as KindDescriptor<JobInput> & Answered<JobInput>;

/** The models of both passes of a job; null when no model answers. */
export const routeOf = (input: JobInput, settings: RoutingSettings): Route | null =>
  descriptorOf(input).route?.(input, settings) ?? null;

/**
 * The model that will write the answer of a job, by the configuration of the process that queues it; "" when no model does. Jobs
 * of one model run one after another, so that a host does not load models back and forth.
 */
export const modelAffinity = (input: JobInput, settings: RoutingSettings): string =>
  routeOf(input, settings)?.second.name ?? "";

/** The input with another model or route, of the same kind. */
export const withModel = <Input extends JobInput>(input: Input, other: OtherModel): Input =>
  descriptorOf(input).withModel(input, other) as Input;

const MOST_CHARS = 300;

/** The task of a job in one line: its question, file, title or first words. */
export function formatTask(kind: Kind, input: StoredInput): string {
  const text = kindOf(kind).title(input);
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS).toWellFormed()}…` : text;
}
