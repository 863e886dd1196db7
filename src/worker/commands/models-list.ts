import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { allHostsOf, embedderHostsOf, modelHostsOf } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { KINDS } from "../../shared/job/job.ts";
import type { Kind } from "../../shared/job/job.ts";
import { kindOf } from "../../shared/job/kinds.ts";
import { withoutAlias } from "../../shared/job/route-models.ts";
import { selectExams } from "../../shared/store/hosts/exams.ts";
import type { NamedExam, OwnCounts } from "../../shared/store/hosts/exams.ts";
import { line, styled } from "../../shared/terminal/styled-text.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { judgesOf } from "../doctor/check-judge.ts";
import { listHostModels } from "../models/list-models.ts";
import type { HostModels } from "../models/list-models.ts";
import type { Model } from "../models/model.ts";
import { fullName } from "../models/ollama-probe.ts";
import { accessOfCommand } from "../settings.ts";
import { ownSources } from "../verify/judge/exam-sequence.ts";
import { alignColumns } from "./align-columns.ts";

type ListedModel = {
  readonly name: string;
  /** Tokens that its calls use, and the most that its host reports; null: unknown, or without a window. */
  readonly window_tokens: number | null;
  readonly largest_window_tokens: number | null;
  readonly kinds: readonly Kind[] | null;
  readonly tools: Model["facts"]["toolProtocol"] | null;
  readonly reads_pictures: boolean | null;
  /** Keys of the configuration that name the model. */
  readonly used_by: readonly string[];
  readonly exams: readonly ListedExam[];
};

type ListedExam = ReturnType<typeof examJson>;

type ListedHost = {
  readonly name: string;
  readonly url: string | null;
  readonly provider: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly models: readonly ListedModel[];
};

/** Lists the models that each host reports, and those without a host. @throws Failure of the first host if none answers */
export const modelsList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, terminal } = context;
  const { accessOf } = accessOfCommand(config, invocation.env);
  const uses = usesOf(config);
  const found = await Promise.all(
    allHostsOf(config).map((place) => {
      const isUsed = (name: string) => uses.some(isOf(name, place.provider));
      return listHostModels(place, config, { accessOf, isUsed });
    }),
  );
  const [first] = found;
  if (first?.failure && found.every(({ failure }) => failure !== null)) throw first.failure;
  const exams = await findExams(context);
  const known = { uses, exams };
  const hosts = [...found.map((host) => hostOf(host, known)), modelsHere(config, known)];
  const missing = findMissing(uses, found);
  if (terminal.isJson) await terminal.printJson({ ok: true, hosts, missing });
  else await printHosts(context, hosts, missing);
};

async function findExams(context: CommandContext): Promise<readonly NamedExam[]> {
  try {
    return await withDatabase(context, "must-exist", selectExams);
  } catch (error) {
    if (error instanceof Failure && error.code === "NOT_FOUND") return [];
    throw error;
  }
}

type Use = {
  readonly key: string;
  readonly model: string;
  readonly isHere: boolean;
  readonly writes: boolean;
};

/** The keys of the configuration that name models, and whether each model runs on this machine and writes. */
function usesOf(config: Config): readonly Use[] {
  const { model, embed, verify, retrieve } = config;
  const isHere = modelHostsOf(config).length === 0;
  const isExtractive = model.provider === "extractive";
  const tiers = Object.entries(verify.tiers).flatMap(([kind, names]) =>
    names.filter((name) => name !== "human").map((name) => [`verify.tiers.${kind}`, name] as const),
  );
  const judges = judgesOf(config).map((name) => ["verify.judge", name] as const);
  const isAskedHere = verify.judge.form === "nli";
  const answering = [
    ["model.name", isExtractive ? model.provider : model.name],
    ["model.fast", isExtractive ? null : model.fast],
    ["model.big", isExtractive ? null : model.big],
    ["verify.model", verify.model],
    ...tiers,
    ...(isAskedHere ? [] : judges),
  ] as const;
  const { entailment } = verify;
  const { rerank } = retrieve;
  const own = [
    ["verify.entailment", entailment.provider === "off" ? null : entailment.model_id],
    ...(isAskedHere ? judges : []),
    ["retrieve.rerank", rerank.provider === "off" ? null : rerank.model_id],
  ] as const;
  const embedsHere = embedderHostsOf(config).length === 0;
  return [
    ...answering.map(([key, name]) => ({ key, name, isHere, writes: true })),
    { key: "embed.model_id", name: embed.model_id, isHere: embedsHere, writes: false },
    ...own.map(([key, name]) => ({ key, name, isHere: true, writes: false })),
  ].flatMap(({ name, ...use }) =>
    name === null ? [] : [{ ...use, model: withoutAlias(name, model) }],
  );
}

type Known = { readonly uses: readonly Use[]; readonly exams: readonly NamedExam[] };

const isOf =
  (name: string, provider: string) =>
  (use: { readonly model: string }): boolean =>
    provider === "ollama" ? fullName(use.model) === fullName(name) : use.model === name;

const hostOf = ({ place, models, failure }: HostModels, { uses, exams }: Known): ListedHost => ({
  name: place.entry?.name ?? place.host,
  url: place.host,
  provider: place.provider,
  error_code: failure?.code ?? null,
  error_message: failure?.message ?? null,
  models: models.map(({ name, model }) => ({
    ...abilitiesOf(name, model),
    used_by: keysOf(uses.filter(({ isHere }) => !isHere).filter(isOf(name, place.provider))),
    exams: exams.filter(isOf(name, place.provider)).map(examJson),
  })),
});

const keysOf = (uses: readonly Use[]): readonly string[] => [
  ...new Set(uses.map(({ key }) => key)),
];

type Abilities = Omit<ListedModel, "used_by" | "exams">;

function abilitiesOf(name: string, model: Model | null): Abilities {
  const facts = model?.facts;
  const profile = model?.profile;
  const kinds = [
    ...(profile?.writes === false ? [] : WRITTEN),
    ...(profile?.embeds === true ? (["embed"] as const) : []),
  ];
  return {
    name,
    window_tokens: facts?.windowTokens ?? null,
    largest_window_tokens: profile?.largestWindow ?? null,
    kinds: model === null ? null : kinds,
    tools: profile?.writes === true ? (facts?.toolProtocol ?? null) : null,
    reads_pictures: profile?.readsPictures ?? null,
  };
}

const WRITTEN = KINDS.filter((kind) => kindOf(kind).calls.includes("model"));
/** Kinds that `extractive` refuses as MODEL_UNSUPPORTED, or never gets. */
const NEEDS_LANGUAGE: readonly Kind[] = ["chat", "investigate", "examine"];
const QUOTED = WRITTEN.filter((kind) => !NEEDS_LANGUAGE.includes(kind));

/** Models in processes of this machine; listing them loads none. */
function modelsHere(config: Config, { uses, exams }: Known): ListedHost {
  const own = uses.filter(({ isHere }) => isHere);
  const names = [...new Set(["extractive", ...own.map(({ model }) => model)])];
  return {
    name: "this machine",
    url: null,
    provider: "none",
    error_code: null,
    error_message: null,
    models: names.map((name) => {
      const named = own.filter(({ model }) => model === name);
      const keys = keysOf(named);
      const isAsked = named.some(({ writes }) => writes);
      const embeds = keys.includes("embed.model_id") ? (["embed"] as const) : [];
      return {
        ...abilitiesOf(name, null),
        window_tokens: isAsked && name !== "extractive" ? config.model.num_ctx : null,
        kinds: name === "extractive" ? QUOTED : isAsked ? WRITTEN : embeds,
        used_by: keys,
        exams: exams.filter(({ model }) => model === name).map(examJson),
      };
    }),
  };
}

type Missing = { readonly name: string; readonly used_by: readonly string[] };

/** The models that should be on a host and are on none; empty if a host does not answer. */
function findMissing(uses: readonly Use[], found: readonly HostModels[]): readonly Missing[] {
  if (found.some(({ failure }) => failure !== null)) return [];
  const sought = uses.filter(({ isHere }) => !isHere);
  const there = (name: string): boolean =>
    found.some(({ place, models }) =>
      models.some((model) => isOf(model.name, place.provider)({ model: name })),
    );
  const names = new Set(sought.map(({ model }) => model).filter((name) => !there(name)));
  return [...names].map((name) => ({
    name,
    used_by: keysOf(sought.filter(({ model }) => model === name)),
  }));
}

async function printHosts(
  { terminal }: CommandContext,
  hosts: readonly ListedHost[],
  missing: readonly Missing[],
): Promise<void> {
  for (const { name, url, provider, models, error_message: why } of hosts) {
    await terminal.print(url === null || url === name ? `${name}:` : `${name} (${url}):`);
    const rows = models.map((model) => ["", ...cellsOf(model)]);
    for (const row of alignColumns(rows)) await terminal.print(row.trimEnd());
    if (why !== null) await terminal.print(line`  ${styled("does not answer", "bad")}: ${why}`);
    else if (models.length === 0) await terminal.print(`  It has none.${HINTS[provider] ?? ""}`);
  }
  for (const { name, used_by: keys } of missing)
    terminal.say(`No host has ${name}, which ${keys.join(", ")} names.`);
}

const HINTS: Readonly<Record<string, string>> = { ollama: " Load one: ollama pull NAME" };

const cellsOf = (model: ListedModel): readonly string[] => [
  model.name,
  windowText(model),
  abilityText(model),
  [
    ...(model.used_by.length === 0 ? [] : [`used by ${model.used_by.join(", ")}`]),
    ...model.exams.map(examText),
  ].join("; "),
];

function windowText({ window_tokens: used, largest_window_tokens: most }: ListedModel): string {
  if (used === null) return "";
  const of = most === null || most === used ? "" : ` of ${formatCount(most)}`;
  return `${formatCount(used)}${of} tokens`;
}

const TOOLS_TEXT = { native: "calls tools", schema: "keeps to schemas", text: "tools in words" };

function abilityText({ kinds, tools, reads_pictures: pictures }: ListedModel): string {
  if (kinds === null) return "not asked";
  const does = kinds.includes("chat")
    ? "writes"
    : kinds.includes("ask")
      ? "quotes"
      : kinds.join(", ");
  const words = [
    does,
    tools === null ? "" : TOOLS_TEXT[tools],
    pictures === true ? "sees pictures" : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

const examText = ({ form, state, own, ...counts }: ListedExam): string =>
  `judge (${form}): ${state}, ${countsText(counts)} statements${own === null ? "" : ownText(own)}`;

const OWN_TEXT = {
  person: "of statements that people decided on",
  machine: "of sentences of your documents",
};

const ownText = (own: OwnCounts): string =>
  ownSources(own)
    .map((by) => `, ${OWN_TEXT[by]} ${countsText(own[by])}`)
    .join("");

const countsText = ({ wrong, right }: OwnCounts["person"]): string =>
  `confirmed ${wrong.confirmed} of ${wrong.asked} wrong and ${right.confirmed} of ${right.asked} right`;

const examJson = (exam: NamedExam) => ({
  form: exam.form,
  state: exam.state,
  wrong: { asked: exam.wrongAsked, confirmed: exam.wrongConfirmed },
  right: { asked: exam.rightAsked, confirmed: exam.rightConfirmed },
  own: exam.own,
});
