import { z } from "zod";
import type { HostPlace } from "../../config/hosts.ts";
import type { Queryable } from "../connection/database.ts";
import { oneRowOf } from "../connection/rows.ts";

const closedSchema = z.array(
  z.object({
    host: z.string(),
    state: z.enum(["closed", "open"]),
    error_message: z.string().nullable(),
    next_probe_at: z.coerce.date().nullable(),
    paused_ms: z.number(),
  }),
);
/** Why a host is not called now: it is down, or its pause lasts for `paused_ms`. */
export type ClosedHost = z.infer<typeof closedSchema>[number];

const chosenSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("chosen"), detail: z.string() }),
  z.object({ outcome: z.literal("closed"), detail: closedSchema }),
  z.object({ outcome: z.literal("unknown"), detail: z.array(z.string()) }),
]);
type ChosenHost = z.infer<typeof chosenSchema>;

type HostQuestion = {
  /** The run that will make the call; null when no run does. */
  readonly runId: string | null;
  /** In the order of the configuration. */
  readonly among: readonly HostPlace[];
  /** Base URLs of hosts that this run has called without success. */
  readonly tried: readonly string[];
  /** A host whose limits allow no call for longer than this is not called now. */
  readonly longestWaitMs: number;
};

/**
 * Chooses the host that a run calls next. While a suitable host has a free slot, no slot is chosen twice, even by several workers
 * at once.
 * @returns chosen: its base URL; closed: the states of the hosts, the first to open first; unknown: see `enterHost`
 */
export async function chooseHost(
  db: Queryable,
  { runId, among, tried, longestWaitMs }: HostQuestion,
): Promise<ChosenHost> {
  const candidates = among.map(({ host, entry }) => ({
    host,
    priority: entry?.priority ?? 0,
    overflow: entry?.takesOverflow === true,
  }));
  return oneRowOf(
    db,
    chosenSchema,
    [runId, JSON.stringify(candidates), tried, longestWaitMs],
    "choose_host",
  )`select * from nightdesk_data.choose_host($1, $2, $3, $4)`;
}
