import { z } from "zod";
import { HOST_KIND_NAMES } from "./providers.ts";

const text = z.string().trim().min(1);
const atLeast = (least: number) => z.int({ error: `a whole number from ${least}` }).min(least);
const pattern = (form: RegExp, error: string) => z.string().regex(form, { error });
/** Price of one million tokens, in the one currency of all prices and money budgets. */
const price = z.number().min(0);

/** A model host. A missing key is null or empty. */
const hostSchema = z.strictObject({
  name: pattern(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, - and _"),
  kind: z.enum(HOST_KIND_NAMES),
  url: text,
  key_env: pattern(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable").optional(),
  key_file: text.optional(),
  headers: z
    // checkHeaders checks the value, because its messages do not repeat it.
    .record(pattern(/^[A-Za-z0-9-]+$/, "the name of a header"), z.coerce.string())
    .optional(),
  ca_file: text.optional(),
  /** http://host:port. Proxies of the environment are ignored. */
  proxy: text.optional(),
  /** Models that it serves, or our names with its names. Without this, whatever the host lists. */
  models: z.union([z.array(text).min(1), z.record(text, text)]).optional(),
  parallel: z.int({ error: "a whole number from 1 to 64" }).min(1).max(64).optional(),
  requests_per_minute: atLeast(1).optional(),
  tokens_per_minute: atLeast(1).optional(),
  price_in: price.optional(),
  price_out: price.optional(),
  /** Lower comes first; hosts with equal priority share the work. The default is 0. */
  priority: z.int({ error: "a whole number from 0 to 100" }).min(0).max(100).optional(),
  /** Whether it takes jobs while all slots of hosts with lower priority are in use. Default: true without prices. */
  overflow: z.boolean().optional(),
  api: z.enum(["chat", "responses"]).optional(),
});

export type HostSettings = z.infer<typeof hostSchema>;

export const hostsSchema = z.array(hostSchema).max(50, { error: "at most 50 hosts" });
