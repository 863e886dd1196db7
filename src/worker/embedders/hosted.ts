import { FROM_HOSTS } from "../../shared/config/providers.ts";
import type { ConfigValues } from "../../shared/config/schema.ts";
import { modelNameAt } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import { Failure } from "../../shared/failure.ts";
import type { ModelHost } from "../models/host-failure.ts";
import { askFirstHost } from "../models/host-models.ts";
import { ollamaHost } from "../models/ollama-probe.ts";
import { openAiHost } from "../models/openai-probe.ts";
import type { EmbeddingHost } from "./ask-embedder.ts";
import { cannotEmbed, invalidEmbeddings } from "./ask-embedder.ts";
import { signatureOf, splitBatches } from "./embedder.ts";
import type { Embedder, EmbedderPlace, HostCalls } from "./embedder.ts";
import { embedFitting, TextTooLong } from "./fit-texts.ts";
import { ollamaEmbeddings } from "./ollama.ts";
import { textFor } from "../text/secrets.ts";
import { openAiEmbeddings } from "./openai-compatible.ts";

type HostedSettings = Pick<ConfigValues["embed"], "model_id" | "batch_size" | "timeout_s">;
type HostedPlace = Pick<EmbedderPlace, "hosts" | "accessOf" | "choice" | "secrets">;

/** The first call to a host may load the model, but a silent host must not be waited for as long as for a batch. */
const OPENING_MS = 30_000;
/** Servers round differently. Another model, another pooling or a coarse quantization differs by more. */
const LEAST_LIKENESS = 0.99;

/**
 * An embedding model on hosts: each call goes to the first available host, and to the next one if that can't be reached. The
 * signature contains the model and the known facts about its build, but no host. A text beyond the model's window is shortened
 * here, and counted.
 */
export async function createHostedEmbedder(
  settings: HostedSettings,
  place: HostedPlace,
): Promise<Embedder> {
  const { model_id: id, batch_size: texts } = settings;
  const hosts = openHosts(settings, place);
  const { build, probe } = await amongHosts(
    id,
    place,
    (at, name, until) => hosts.open(at, name, until),
    new AbortController().signal,
  );
  const facts = { model: id, dims: probe.length, ...buildFacts(place.hosts, build) };
  const through = ({ call, choice }: HostCalls): Embedder => ({
    id,
    dims: facts.dims,
    signature: signatureOf(facts),
    defaultWeight: 1,
    through,
    embed: (all, signal, onCut = () => undefined) =>
      amongHosts(
        id,
        { hosts: place.hosts, choice },
        (at, name, until) =>
          call(at.host, async () => {
            const { host } = await hosts.openSame(at, name, until);
            const embed = (batch: readonly string[]) => host.embed(batch, until);
            const vectors: Float32Array[] = [];
            const sent = all.map(textFor(at.host, place.secrets ?? "off"));
            for (const batch of splitBatches(sent, texts)) {
              const fitting = { embed, dims: facts.dims, onCut };
              vectors.push(...(await embedFitting(batch, fitting).catch(explainFor(host.host))));
            }
            return vectors;
          }),
        signal,
      ),
  });
  return through({ call: (_, make) => make(), choice: place.choice });
}

/** If even a few words are rejected, shortening can't help: the model can't embed. */
const explainFor = (host: ModelHost) => (error: unknown) => {
  throw error instanceof TextTooLong ? cannotEmbed(host, "CONTEXT_OVERFLOW", error) : error;
};

/** Hosts of different kinds report different facts about the same build: then only the name of the model is used. */
function buildFacts(
  hosts: readonly HostPlace[],
  build: string | null,
): { readonly embedder: string; readonly digest: string } {
  if (!tellTheSame(hosts)) return { embedder: "hosts-1", digest: "unknown" };
  const embedder = hosts[0]?.provider === "ollama" ? "ollama-2" : "openai-compatible-1";
  return { embedder, digest: build ?? "unknown" };
}

/** Whether hosts report comparable facts about a build. */
const tellTheSame = (hosts: readonly HostPlace[]): boolean =>
  new Set(hosts.map(({ provider, entry }) => entry?.kind ?? provider)).size < 2;

type OpenedHost = {
  readonly host: EmbeddingHost;
  readonly build: string | null;
  /** The vector of a fixed text, by which hosts are compared. */
  readonly probe: Float32Array;
};

type OpenHosts = {
  open(place: HostPlace, name: string, signal: AbortSignal): Promise<OpenedHost>;
  /** The same, after checking the build again. @throws Failure EMBED_DRIFT for another build than the first that was opened */
  openSame(place: HostPlace, name: string, signal: AbortSignal): Promise<OpenedHost>;
};

function openHosts(
  settings: HostedSettings,
  place: Pick<HostedPlace, "hosts" | "accessOf">,
): OpenHosts {
  const opened = new Map<string, OpenedHost>();
  const open: OpenHosts["open"] = async (at, name, signal) => {
    const known = opened.get(at.host);
    if (known !== undefined) return known;
    const opening = await openHost(at, name, { settings, place, signal });
    // The first host stays the reference, because existing vectors came from its build.
    const [first = opening] = opened.values();
    const isOtherBuild = tellTheSame(place.hosts) && first.build !== opening.build;
    if (isOtherBuild || cosine(first.probe, opening.probe) < LEAST_LIKENESS) {
      throw otherBuild(first, opening);
    }
    opened.set(at.host, opening);
    return opening;
  };
  return {
    open,
    async openSame(at, name, signal) {
      const known = await open(at, name, signal);
      if ((await known.host.findBuild(signal)) === known.build) return known;
      throw new Failure(
        "EMBED_DRIFT",
        `${at.host} has another build of "${name}" than when this process began. Start the worker again, then ` +
          "run: nightdesk embed --rebuild",
      );
    },
  };
}

type Opening = {
  readonly settings: HostedSettings;
  readonly place: Pick<HostedPlace, "accessOf">;
  readonly signal: AbortSignal;
};

async function openHost(
  at: HostPlace,
  name: string,
  { settings, place, signal }: Opening,
): Promise<OpenedHost> {
  const timeoutMs = settings.timeout_s * 1_000;
  const described = describeHost(at, name, place);
  const connect = at.provider === "ollama" ? ollamaEmbeddings : openAiEmbeddings;
  const opening = connect({ host: described, timeoutMs: Math.min(timeoutMs, OPENING_MS) });
  const build = await opening.findBuild(signal);
  const [probe] = await opening.embed(["dimensions"], signal).catch(explainFor(described));
  if (probe === undefined) throw invalidEmbeddings(described);
  return { host: connect({ host: described, timeoutMs }), build, probe };
}

function describeHost(
  { host: baseUrl, provider, entry }: HostPlace,
  name: string,
  { accessOf }: Pick<HostedPlace, "accessOf">,
): ModelHost {
  const listed = entry === undefined ? {} : { entry: entry.name, access: accessOf(baseUrl) };
  const place = { name, baseUrl, setting: "embed.model_id", ...listed };
  const host = provider === "ollama" ? ollamaHost(place) : openAiHost(place);
  return {
    ...host,
    toStart: host.toStart.replace("model.base_url", "embed.base_url"),
    trial: {
      route: provider === "ollama" ? "/api/embed" : "/v1/embeddings",
      body: { model: name, input: ["Hi"] },
    },
  };
}

function otherBuild(first: OpenedHost, other: OpenedHost): Failure {
  const [one, two] = [first.host.host, other.host.host];
  return new Failure(
    "EMBED_DRIFT",
    `"${two.name}" at ${two.baseUrl} is another build than "${one.name}" at ${one.baseUrl}, and gives other vectors. Load ` +
      `the same build in both, with the same pooling, or take the model out of ${FROM_HOSTS} at one of them.`,
  );
}

/** Of vectors of unit length; 0 if their lengths differ. */
const cosine = (one: Float32Array, other: Float32Array): number =>
  one.length === other.length
    ? one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
    : 0;

/**
 * The result of the first available host that has the model. A host with another build is skipped; its failure is thrown if no
 * other host is left.
 */
async function amongHosts<T>(
  model: string,
  { hosts, choice }: Pick<HostedPlace, "hosts" | "choice">,
  ask: (place: HostPlace, name: string, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const passedOver: Failure[] = [];
  const asking: typeof ask = async (place, name, until) => {
    try {
      return await ask(place, name, until);
    } catch (error) {
      if (!(error instanceof Failure) || !PASSED_OVER.has(error.code)) throw error;
      passedOver.push(error);
      throw new Failure("MODEL_NOT_FOUND", error.message, { cause: error });
    }
  };
  try {
    return (await askFirstHost(model, hosts, { ask: asking, choice }, signal)).given;
  } catch (error) {
    const isMissing = error instanceof Failure && error.code === "MODEL_NOT_FOUND";
    const drift = passedOver.find(({ code }) => code === "EMBED_DRIFT");
    throw isMissing ? (drift ?? (hosts.length === 1 ? passedOver[0] : error)) : error;
  }
}

const PASSED_OVER: ReadonlySet<string> = new Set(["MODEL_NOT_FOUND", "EMBED_DRIFT"]);

type HostTrial = { readonly place: HostPlace; readonly error: unknown };

/** Embeds one text at each host of the model, as a worker would; `error` is undefined if that works. */
export async function tryEachHost(
  settings: HostedSettings,
  place: HostedPlace,
): Promise<readonly HostTrial[]> {
  const hosts = openHosts(settings, place);
  const { signal } = new AbortController();
  const trials: HostTrial[] = [];
  for (const at of place.hosts) {
    const name = modelNameAt(at, settings.model_id) ?? settings.model_id;
    const error: unknown = await hosts.open(at, name, signal).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    trials.push({ place: at, error });
  }
  return trials;
}
