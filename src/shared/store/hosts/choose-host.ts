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
/** Why a host is not called now: it is down, or is to be left alone for so long. */
export type ClosedHost = z.infer<typeof closedSchema>[number];

const chosenSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("chosen"), detail: z.string() }),
  z.object({ outcome: z.literal("closed"), detail: closedSchema }),
  z.object({ outcome: z.literal("unknown"), detail: z.array(z.string()) }),
]);
type ChosenHost = z.infer<typeof chosenSchema>;

type HostQuestion = {
  /** Whose next call it is for; null for who makes none. */
  readonly runId: string | null;
  /** In the order of the configuration. */
  readonly among: readonly HostPlace[];
  /** Base URLs of those that this run has asked in vain. */
  readonly tried: readonly string[];
  /** A host that lets no call begin for longer is not called now. */
  readonly longestWaitMs: number;
};

/**
 * Chooses the host that a run calls next, so that no slot is chosen twice while another host that is to be called has one,
 * by whatever workers at the same moment.
 * @returns chosen: its base URL; closed: how they stand, the one that comes first at the beginning; unknown: see `enterHost`
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
