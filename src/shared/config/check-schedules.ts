import { checkSchedule } from "../schedules/check-schedule.ts";
import { configuredSchedules } from "../schedules/configured-schedules.ts";
import type { KeyPath } from "./dotted-key.ts";
import { maskWebhook } from "./mask-webhook.ts";
import type { ConfigValues } from "./schema.ts";

/** What is wrong with one key in the light of others; `text` follows the key. */
export type Conflict = { readonly path: KeyPath; readonly text: string };

/**
 * What would keep schedules from running. Of one that is switched off only the name is looked at here, because every
 * command reads the configuration: a worker looks at all of it when it starts, and so does `schedule enable`.
 */
export function checkSchedules(values: ConfigValues): Conflict[] {
  const entries = configuredSchedules(values);
  const names = entries.map(({ name }) => name);
  return entries.flatMap((entry, position) => {
    if (names.indexOf(entry.name) !== position) {
      const text = `is "${entry.name}" like an entry before; expected a name of its own`;
      return [{ path: ["schedules", position, "name"], text }];
    }
    if (!entry.enabled) return [];
    return checkSchedule(entry).map(({ key, text }) => ({
      path: ["schedules", position, key],
      text: `of "${entry.name}" ${text}`,
    }));
  });
}

/** Where the end of a batch is told. */
export function checkWebhook({ on_batch_end: { webhook } }: ConfigValues): Conflict[] {
  if (webhook === null) return [];
  if (URL.canParse(webhook) && ["http:", "https:"].includes(new URL(webhook).protocol)) return [];
  const text = `is ${maskWebhook(webhook)}; expected http://host/path or https://host/path`;
  return [{ path: ["on_batch_end", "webhook"], text }];
}
