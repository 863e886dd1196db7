import { firstCapacityOf, nameAt } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import { Failure, HostFailure } from "../../shared/failure.ts";
import type { HostStanding } from "../../shared/store/hosts/hosts.ts";
import { hostDown, hostPaused } from "./host-failure.ts";
import { LONG_PAUSE_MS } from "./limiter.ts";
import type { Model } from "./model.ts";

/** What is known of hosts when one of them is to be chosen. */
export type HostChoice = {
  /** How those stand that were called before. */
  standings(hosts: readonly string[]): Promise<readonly HostStanding[]>;
  /** To be called before them. @returns how many calls of this process they may not have counted */
  readonly watchPending: () => (host: string) => number;
  /** A call of this process is about to begin there. @returns what takes that back */
  readonly expect: (host: string) => () => void;
  /** Counts a host that was not reached, where the run goes on at another. */
  failed(failure: HostFailure): Promise<void>;
};

/** Of who asks for himself alone. */
export const UNKNOWN_STANDINGS: HostChoice = {
  standings: async () => [],
  watchPending: () => () => 0,
  expect: () => () => undefined,
  failed: async () => undefined,
};

/** Opens a model at a host, by the name that it has there. */
export type OpenAt = (place: HostPlace, name: string, signal: AbortSignal) => Promise<Model>;

type Candidate = {
  readonly place: HostPlace;
  readonly nameThere: string;
  readonly standing: HostStanding | undefined;
  /** Calls for each of its slots: from 1 on, all of them are in use. */
  readonly load: number;
};

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
  /** No call follows: nobody waits for its beginning. */
  readonly noCall: () => void;
};

/**
 * Asks the first of a model's hosts that is up: those of the lowest priority come first, among equals the one with the fewest
 * calls for its slots. While all slots of these are in use, the next that has one free and takes overflow comes first. A host
 * that was not reached a moment ago comes last.
 *
 * @throws Failure MODEL_NOT_FOUND where no host has it; HostFailure of the host that comes first where all that may have it
 *   are down or busy; what a host that was reached threw
 */
export async function askFirstHost<T>(
  name: string,
  places: readonly HostPlace[],
  { ask, choice }: AskHosts<T>,
  signal: AbortSignal,
): Promise<HostAnswer<T>> {
  const serving = servingHosts(name, places);
  const pending = choice.watchPending();
  // One alone is asked whatever is known of it.
  const standings =
    serving.length < 2 ? [] : await choice.standings(serving.map(({ place }) => place.host));
  // Between this and what is expected of the first nobody else may choose: nothing is waited for.
  const candidates = inTurn(serving, standings, pending);
  const troubles: HostFailure[] = [];
  for (const { place, nameThere, standing } of candidates) {
    const closed = whyNotNow(place, standing);
    if (closed !== null) {
      troubles.push(closed);
      continue;
    }
    const noCall = choice.expect(place.host);
    try {
      const given = await ask(place, nameThere, signal);
      await Promise.all(troubles.map((trouble) => choice.failed(trouble)));
      return { given, host: place.host, others: candidates.length - 1, noCall };
    } catch (error) {
      noCall();
      signal.throwIfAborted();
      if (error instanceof HostFailure) troubles.push(error);
      else if (!isMissing(error)) throw error;
    }
  }
  const [first, ...rest] = troubles;
  if (first === undefined) throw noHostHas(name, places);
  await Promise.all(rest.map((trouble) => choice.failed(trouble)));
  throw first;
}

type Serving = Pick<Candidate, "place" | "nameThere">;

const servingHosts = (name: string, places: readonly HostPlace[]): readonly Serving[] =>
  places.flatMap((place) => {
    const nameThere = nameAt(place, name);
    return nameThere === null ? [] : [{ place, nameThere }];
  });

function inTurn(
  serving: readonly Serving[],
  standings: readonly HostStanding[],
  pending: (host: string) => number,
): readonly Candidate[] {
  const candidates = serving.map((each) => {
    const { place } = each;
    const standing = standings.find(({ host }) => host === place.host);
    const calls = (standing?.calls ?? 0) + pending(place.host);
    return { ...each, standing, load: calls / (standing?.capacity ?? firstCapacityOf(place)) };
  });
  return overflowing(candidates.sort(inOrder));
}

const inOrder = (one: Candidate, other: Candidate): number =>
  rankOf(one) - rankOf(other) || one.load - other.load;

/** Puts the host that helps out first, where all slots of those that are to come first are in use. */
function overflowing(sorted: readonly Candidate[]): readonly Candidate[] {
  const first = sorted.find(({ place, standing }) => whyNotNow(place, standing) === null);
  if (first === undefined || first.load < 1) return sorted;
  const helper = sorted.find(
    (each) =>
      each.load < 1 &&
      each.place.entry?.takesOverflow === true &&
      rankOf(each) <= MOST_PRIORITY &&
      whyNotNow(each.place, each.standing) === null,
  );
  return helper === undefined ? sorted : [helper, ...sorted.filter((each) => each !== helper)];
}

const MOST_PRIORITY = 100;

function rankOf({ place, standing }: Candidate): number {
  const isBehind =
    standing !== undefined && (standing.failed_lately || standing.paused_ms > LONG_PAUSE_MS);
  return (place.entry?.priority ?? 0) + (isBehind ? MOST_PRIORITY + 1 : 0);
}

function whyNotNow({ host }: HostPlace, standing: HostStanding | undefined): HostFailure | null {
  if (standing === undefined) return null;
  if (standing.state === "open") return hostDown(host, standing);
  return standing.paused_ms > LONG_PAUSE_MS ? hostPaused(host, standing.paused_ms) : null;
}

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
