import { nameAt } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import { Failure, HostFailure } from "../../shared/failure.ts";
import type { ClosedHost } from "../../shared/store/hosts/choose-host.ts";
import { hostDown, hostPaused } from "./host-failure.ts";
import type { Model } from "./model.ts";

/** How a run, or who asks for no run, comes to one of several hosts. */
export type HostChoice = {
  /**
   * The host that is to be asked now; of a run's, a slot of it counts as taken until its call begins.
   * @param among in the order of the configuration
   * @param tried base URLs of those that were asked in vain: they count as taken no more
   */
  choose(among: readonly [HostPlace, ...HostPlace[]], tried: readonly string[]): Promise<NextHost>;
  /** Counts a host that was not reached, where the run goes on at another. */
  failed(failure: HostFailure): Promise<void>;
};

export type NextHost =
  | { readonly outcome: "chosen"; readonly host: string }
  /** None is to be called now: how they stand, the one that comes first at the beginning. */
  | { readonly outcome: "closed"; readonly hosts: readonly ClosedHost[] };

/** Of who asks for himself alone: by priority, and then as they are written. */
export const IN_ORDER: HostChoice = {
  async choose(among) {
    const { host } = among.reduce((first, place) =>
      priorityOf(place) < priorityOf(first) ? place : first,
    );
    return { outcome: "chosen", host };
  },
  failed: async () => undefined,
};

const priorityOf = ({ entry }: HostPlace): number => entry?.priority ?? 0;

/** Opens a model at a host, by the name that it has there. */
export type OpenAt = (place: HostPlace, name: string, signal: AbortSignal) => Promise<Model>;

/** A model at the first of its hosts that is up. @throws as askFirstHost */
export async function openAtHost(
  name: string,
  places: readonly HostPlace[],
  { open, choice }: { readonly open: OpenAt; readonly choice: HostChoice },
  signal: AbortSignal,
): Promise<Model> {
  const { given, host, others } = await askFirstHost(name, places, { ask: open, choice }, signal);
  return atHost(given, { name, host, others });
}

type AskHosts<T> = {
  /** Asks one host, by the name that the model has there. */
  readonly ask: (place: HostPlace, nameThere: string, signal: AbortSignal) => Promise<T>;
  readonly choice: HostChoice;
};

/** What the first host gave that was up, and how many others may have the model. */
type HostAnswer<T> = {
  readonly given: T;
  readonly host: string;
  readonly others: number;
};

/**
 * Asks the host of a model that is chosen, and where that one is not reached, or has no such model, the one that is chosen
 * among the others.
 *
 * @throws Failure MODEL_NOT_FOUND where no host has it; HostFailure of the host that was asked first, or else comes first, where
 *   all that may have it are down or busy; what a host that was reached threw
 */
export async function askFirstHost<T>(
  name: string,
  places: readonly HostPlace[],
  { ask, choice }: AskHosts<T>,
  signal: AbortSignal,
): Promise<HostAnswer<T>> {
  const serving = servingHosts(name, places);
  const troubles: HostFailure[] = [];
  const tried: string[] = [];
  for (;;) {
    const next = await nextOf(serving, tried, choice);
    if (next === undefined) break;
    if ("closed" in next) {
      troubles.push(...next.closed.map(whyNotNow));
      break;
    }
    const { place, nameThere } = next;
    try {
      const given = await ask(place, nameThere, signal);
      await Promise.all(troubles.map((trouble) => choice.failed(trouble)));
      return { given, host: place.host, others: serving.length - 1 };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HostFailure) troubles.push(error);
      else if (!isMissing(error)) throw error;
      tried.push(place.host);
    }
  }
  const [first, ...rest] = troubles;
  if (first === undefined) throw noHostHas(name, places);
  await Promise.all(rest.map((trouble) => choice.failed(trouble)));
  throw first;
}

type Serving = { readonly place: HostPlace; readonly nameThere: string };

const servingHosts = (name: string, places: readonly HostPlace[]): readonly Serving[] =>
  places.flatMap((place) => {
    const nameThere = nameAt(place, name);
    return nameThere === null ? [] : [{ place, nameThere }];
  });

/** Undefined where all were tried. One that serves the model alone is asked whatever is known of it. */
async function nextOf(
  serving: readonly Serving[],
  tried: readonly string[],
  choice: HostChoice,
): Promise<Serving | { readonly closed: readonly ClosedHost[] } | undefined> {
  const left = serving.filter(({ place }) => !tried.includes(place.host));
  const [first, ...others] = left;
  if (first === undefined || serving.length === 1) return first;
  const among = [first.place, ...others.map(({ place }) => place)] as const;
  const next = await choice.choose(among, tried);
  if (next.outcome === "closed") return { closed: next.hosts };
  return left.find(({ place }) => place.host === next.host);
}

const whyNotNow = (closed: ClosedHost): HostFailure =>
  closed.state === "open"
    ? hostDown(closed.host, closed)
    : hostPaused(closed.host, closed.paused_ms);

const isMissing = (error: unknown): boolean =>
  error instanceof Failure && error.code === "MODEL_NOT_FOUND";

const noHostHas = (name: string, places: readonly HostPlace[]): Failure =>
  new Failure(
    "MODEL_NOT_FOUND",
    `No host of hosts has the model "${name}": ${places.map(({ entry, host }) => entry?.name ?? host).join(", ")}. ` +
      "Load it there, or name it among the models of the one that has it.",
  );

type Chosen = { readonly name: string; readonly host: string; readonly others: number };

/** Jobs name a model as it is called here, whatever it is called there. */
const atHost = (model: Model, { name, host, others }: Chosen): Model => ({
  ...model,
  name,
  host,
  async complete(request, signal) {
    try {
      return await model.complete(request, signal);
    } catch (error) {
      if (error instanceof HostFailure) error.isServedElsewhere = others > 0;
      throw error;
    }
  },
});
