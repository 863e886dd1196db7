import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../../shared/store/connection/database.ts";
import { SLOTS_CHANNEL } from "../../shared/store/hosts/calls.ts";
import type { CallCost, CallEnd } from "../../shared/store/hosts/calls.ts";
import type { HostPlace } from "../../shared/store/hosts/hosts.ts";
import type { Night } from "../../shared/windows.ts";
import { UNPACED } from "../pipeline/pace.ts";
import type { CallEnding, CallEstimate, Pace, Turn } from "../pipeline/pace.ts";
import type { NightClock } from "../runtime/keep-batches.ts";
import type { PacingSettings } from "./pacing-settings.ts";
import { nightWatch } from "./tonight.ts";
import { takeTurn } from "./turns.ts";
import type { TurnPlace } from "./turns.ts";
import { waitingLine } from "./waiting-line.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** How calls of this process come to their turns at the hosts that all workers share. */
export type Pacing = {
  /** For the model calls of a run. */
  forModel(runId: string): Pace;
  /** For the calls of a run to the embedder's host, which no budget counts. */
  forEmbedder(runId: string): Pace;
};

/** What calls of models go by, where they do not go by the time of this machine. */
export type Timing = {
  /** Says in which night a call is made. */
  readonly clock?: NightClock;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random?: () => number;
};

export type PacingParts = Timing & {
  readonly database: Database;
  readonly settings: PacingSettings;
};

/** Notifications may be missed; who comes first looks again after this. */
const POLL_MS = 1_000;

/** Nothing is asked of the database before the first call. */
export function createPacing(parts: PacingParts): Pacing {
  const { model, embedder, windows } = parts.settings;
  const places = openPlaces(parts.database);
  const tonight = nightWatch(parts.clock ?? (() => "database"), windows);
  return {
    forModel: (runId) =>
      model === null
        ? UNPACED
        : paceAt(places(model), runId, {
            ...parts,
            costOf: (estimate) => costOf(estimate, parts.settings, tonight()),
          }),
    forEmbedder: (runId) =>
      embedder === null
        ? UNPACED
        : paceAt(places(embedder), runId, { ...parts, costOf: () => null }),
  };
}

/** The lines of this process, one a host, woken by one connection that listens from the first wait on. */
function openPlaces(database: Database): (host: HostPlace) => TurnPlace {
  const lines = new Map<string, WaitingLine>();
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
      // The first in line looks now and then all the same.
      listening = undefined;
    }));
  return (host) => {
    const line = lines.get(host.host) ?? waitingLine(POLL_MS);
    lines.set(host.host, line);
    return { db: database, host, line, listen };
  };
}

type PaceParts = Pick<Timing, "sleep" | "random"> & {
  readonly costOf: (estimate: CallEstimate) => CallCost | null;
};

const paceAt = (
  place: TurnPlace,
  runId: string,
  { costOf: priceOf, sleep = pause, random = Math.random }: PaceParts,
): Pace => ({
  async takeTurn(estimate, signal): Promise<Turn> {
    const turn = await takeTurn(runId, () => priceOf(estimate), place, signal);
    return { waitedMs: turn.waitedMs, end: (ending) => turn.end(endOf(ending)) };
  },
  async pauseWhenBusy(tries, signal) {
    if (tries >= BUSY.tries) return "give_up";
    const longest = BUSY.firstMs * 2 ** (tries - 1);
    await sleep(longest * (0.5 + random() / 2), signal);
    return "again";
  },
});

/** A host that is busy for longer has its jobs parked. */
const BUSY = { tries: 4, firstMs: 1_000 };

const pause = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await wait(milliseconds, undefined, { signal }).catch(() => {
    signal.throwIfAborted();
  });
};

function costOf(
  { promptTokens, replyTokens }: CallEstimate,
  { perBatch, perNight }: PacingSettings,
  night: Night,
): CallCost {
  return { tokens: promptTokens + replyTokens, night, perBatch, perNight };
}

function endOf(ending: CallEnding): CallEnd {
  switch (ending.kind) {
    case "answered": {
      const tokens = ending.promptTokens + ending.completionTokens;
      return { answer: "answered", calls: 1, tokens, seconds: ending.durationMs / 1000 };
    }
    case "unanswered":
      return {
        answer: "none",
        calls: 1,
        tokens: ending.promptTokens,
        seconds: ending.durationMs / 1000,
      };
    case "busy":
      return { answer: "busy", calls: 0, tokens: 0, seconds: 0 };
    case "not_made":
      return { answer: "none", calls: 0, tokens: 0, seconds: 0 };
  }
}
