import { setTimeout as wait } from "node:timers/promises";
import { callPrice } from "../../shared/config/hosts.ts";
import type { CallPlace } from "../../shared/config/hosts.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { UNMADE_CALL, SLOTS_CHANNEL } from "../../shared/store/hosts/calls.ts";
import type { CallCost, CallEnd } from "../../shared/store/hosts/calls.ts";
import { HostFailure } from "../../shared/failure.ts";
import { nightOf } from "../../shared/schedules/windows.ts";
import type { Night } from "../../shared/schedules/windows.ts";
import type { Embedder } from "../embedders/embedder.ts";
import type { HostChoice } from "../models/host-models.ts";
import { endingOf, UNLIMITED } from "../models/limiter.ts";
import type { CallEnding, CallEstimate, Limiter, Slot } from "../models/limiter.ts";
import type { WorkerResources } from "../resources.ts";
import type { PacingSettings } from "./pacing-settings.ts";
import { acquireSlot, waitQueue } from "./slots.ts";
import type { SlotPlace, WaitQueue } from "./slots.ts";

/** Gives the calls of this process slots at the hosts that all workers share. */
type Pacing = {
  /** For the model calls of a run. */
  forModel(runId: string): Limiter;
  /** For the calls of a run to the embedder's host; no budget counts them. */
  forEmbedder(runId: string): Limiter;
};

/** The clock, the sleep and the randomness of pacing; by default those of this machine. */
export type Timing = {
  /** Determines the night of a call. */
  readonly clock?: NightClock;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random?: () => number;
};

export type PacingParts = Timing & {
  readonly database: Database;
  readonly settings: PacingSettings;
};

/** Notifications may be lost, so the first in line polls at this interval. */
const POLL_MS = 1_000;

/** Makes no query before the first call. */
export function createPacing(parts: PacingParts): Pacing {
  const { models, confirming, embedders, windows } = parts.settings;
  const places = openPlaces(parts);
  const tonight = nightWatch(parts.clock ?? (() => "database"), windows);
  return {
    forModel: (runId) =>
      paceAmong(
        models,
        (host) =>
          paceAt(places(host), runId, {
            ...parts,
            costOf: (estimate) => costOf(estimate, host, parts.settings, tonight()),
          }),
        confirming,
      ),
    forEmbedder: (runId) =>
      paceAmong(embedders, (host) => paceAt(places(host), runId, { ...parts, costOf: () => null })),
  };
}

/**
 * Chooses the limiter of the host that a call names; of the first host if it names none.
 * @param alone hosts with a purpose of their own, which have no alternative
 */
function paceAmong(
  hosts: readonly CallPlace[],
  pace: (host: CallPlace) => Limiter,
  alone: readonly CallPlace[] = [],
): Limiter {
  const all = [...hosts, ...alone];
  const [first] = all;
  if (first === undefined) return UNLIMITED;
  const limiters = new Map<string, Limiter>();
  const limiterAt = (url: string = first.host): Limiter => {
    const host = all.find((each) => each.host === url) ?? first;
    const limiter = limiters.get(host.host) ?? pace(host);
    limiters.set(host.host, limiter);
    return limiter;
  };
  return {
    async acquireSlot(estimate, signal) {
      try {
        return await limiterAt(estimate.host).acquireSlot(estimate, signal);
      } catch (error) {
        if (error instanceof HostFailure) error.isServedElsewhere = hosts.length > 1;
        throw error;
      }
    },
    pauseWhenBusy: (tries, signal) => limiterAt().pauseWhenBusy(tries, signal),
  };
}

/** The queues of this process, one per host. One connection, which listens from the first wait on, wakes them. */
function openPlaces({ database }: Pick<PacingParts, "database">): (host: CallPlace) => SlotPlace {
  const lines = new Map<string, WaitQueue>();
  let listening: Promise<void> | undefined;
  const wakeAll = (): void => {
    for (const line of lines.values()) line.wake();
  };
  const tell = (_: string, said: string): void => {
    const [host = "", ...tickets] = said.split(" ");
    if (tickets.length === 0) lines.get(host)?.wake();
    else lines.get(host)?.tell(tickets);
  };
  const listen = () =>
    (listening ??= database.listen([SLOTS_CHANNEL], tell, wakeAll).catch(() => {
      // The first in line polls anyway.
      listening = undefined;
    }));
  return (host) => {
    const line = lines.get(host.host) ?? waitQueue(POLL_MS);
    lines.set(host.host, line);
    return { db: database, host, line, listen };
  };
}

type PaceParts = Pick<Timing, "sleep" | "random"> & {
  readonly costOf: (estimate: CallEstimate) => CallCost | null;
};

const paceAt = (
  place: SlotPlace,
  runId: string,
  { costOf: priceOf, sleep = sleepUnlessAborted, random = Math.random }: PaceParts,
): Limiter => ({
  async acquireSlot(estimate, signal): Promise<Slot> {
    const slot = await acquireSlot(runId, () => priceOf(estimate), place, signal);
    const { ticket, waitedMs } = slot;
    return {
      waitedMs,
      end: (ending) => slot.end(endOf(ending, place.host)),
      chargeOf: (ending) => ({ ticket, ...endOf(ending, place.host) }),
    };
  },
  async pauseWhenBusy(tries, signal) {
    if (tries >= BUSY.tries) return "give_up";
    const longest = BUSY.firstMs * 2 ** (tries - 1);
    await sleep(longest * (0.5 + random() / 2), signal);
    return "again";
  },
});

/** If a host stays busy for longer, its jobs are parked. */
const BUSY = { tries: 4, firstMs: 1_000 };

const sleepUnlessAborted = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await wait(milliseconds, undefined, { signal }).catch(() => {
    signal.throwIfAborted();
  });
};

function costOf(
  { promptTokens, replyTokens }: CallEstimate,
  host: CallPlace,
  { perBatch, perNight }: PacingSettings,
  night: Night,
): CallCost {
  const money = callPrice(host, { promptTokens, completionTokens: replyTokens });
  return { tokens: promptTokens + replyTokens, money, night, perBatch, perNight };
}

function endOf(ending: CallEnding, host: CallPlace): CallEnd {
  switch (ending.kind) {
    case "answered": {
      const tokens = ending.promptTokens + ending.completionTokens;
      const money = callPrice(host, ending);
      return { answer: "answered", calls: 1, tokens, seconds: ending.durationMs / 1000, money };
    }
    case "unanswered":
      return {
        answer: "none",
        calls: 1,
        tokens: ending.promptTokens,
        seconds: ending.durationMs / 1000,
        money: callPrice(host, { promptTokens: ending.promptTokens, completionTokens: 0 }),
      };
    case "busy":
      return { ...UNMADE_CALL, answer: "busy", pauseSeconds: (ending.retryAfterMs ?? 0) / 1000 };
    case "not_made":
      return UNMADE_CALL;
  }
}

/** The night by the worker's clock. A difference to the database's clock does not matter: a night ends at noon. */
export const currentNight = (clock: NightClock, windows: readonly string[]): Night =>
  nightOf(timeOf(clock), windows);

/** The same for a caller that needs it at every call of a model: computes each night once. */
export function nightWatch(clock: NightClock, windows: readonly string[]): () => Night {
  let since = new Date(NaN);
  let night: Night | undefined;
  return () => {
    const time = timeOf(clock);
    if (night === undefined || time < since || time >= night.endsAt) {
      night = nightOf(time, windows);
      since = time;
    }
    return night;
  };
}

function timeOf(clock: NightClock): Date {
  const time = clock();
  return time === "database" ? new Date() : time;
}

/** Gives the calls of a run to its embedder slots. */
export type EmbedderLimiter = {
  readonly limiter: Limiter;
  /** Chooses the host of each call. */
  readonly choice: HostChoice;
  /** Called before each call, with its number of texts. */
  readonly mayTake: (texts: number) => void;
};

/** The resources of a run whose embedders share the slots of their host with the calls of all workers. */
export const paceEmbedders = (
  resources: WorkerResources,
  parts: EmbedderLimiter,
): WorkerResources => ({
  ...resources,
  embedder: async () => paceEmbedder(await resources.embedder(), parts),
  embedderOf: async (model) => paceEmbedder(await resources.embedderOf(model), parts),
});

const UNCOUNTED = { promptTokens: 0, replyTokens: 0 };

/** The same for one embedder. */
export const paceEmbedder = (embedder: Embedder, parts: EmbedderLimiter): Embedder => ({
  ...embedder,
  embed(texts, signal, onCut) {
    const call = pacedCall(parts, texts.length, signal);
    return embedder.through === undefined
      ? call(undefined, () => embedder.embed(texts, signal, onCut))
      : embedder.through({ call, choice: parts.choice }).embed(texts, signal, onCut);
  },
});

/** Makes a call when its host has a free slot; the first host if none is named. */
const pacedCall =
  ({ limiter, mayTake }: EmbedderLimiter, texts: number, signal: AbortSignal) =>
  async <T>(host: string | undefined, make: () => Promise<T>): Promise<T> => {
    const estimate = host === undefined ? UNCOUNTED : { ...UNCOUNTED, host };
    const slot = await limiter.acquireSlot(estimate, signal);
    mayTake(texts);
    const startedAt = performance.now();
    let made: T;
    try {
      made = await make();
    } catch (error) {
      await slot.end(endingOf(error, UNCOUNTED, performance.now() - startedAt));
      throw error;
    }
    const durationMs = performance.now() - startedAt;
    await slot.end({ kind: "answered", promptTokens: 0, completionTokens: 0, durationMs });
    return made;
  };

/** The time for windows and deadlines: the database's clock, or a simulated one in tests of a night. */
export type NightClock = () => Date | "database";
