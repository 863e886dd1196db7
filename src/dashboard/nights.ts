import { endsInTime } from "../shared/ends-in-time.ts";
import type { Queryable } from "../shared/store/connection/database.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Html } from "../shared/views/html-markup.ts";
import { modelsPicture, nightPicture } from "../shared/views/night-picture.ts";
import { selectNight } from "../shared/views/night.ts";
import type { Night, NightScope } from "../shared/views/night.ts";

/**
 * Caches nights for pages. A night older than 15 s is read again when a page requests it, in the background and once for all
 * pages. For the first reading a page waits at most 120 ms.
 */
export type Nights = {
  /** @param key of the scope. Undefined until the first reading has ended */
  get(key: string, scope: NightScope): Promise<Night | undefined>;
};

const FRESH_MS = 15_000;
const MOST_WAIT_MS = 120;
const MOST_KEPT = 50;

type CachedNight = { night: Night | undefined; readAt: number; reading: Promise<void> | null };

export function openNights(database: Queryable, onError: (error: unknown) => void): Nights {
  const nights = new Map<string, CachedNight>();
  const read = (cached: CachedNight, scope: NightScope): Promise<void> =>
    selectNight(database, scope)
      .then((night) => {
        cached.night = night;
        cached.readAt = performance.now();
      })
      .catch(onError)
      .finally(() => {
        cached.reading = null;
      });
  return {
    async get(key, scope) {
      const cached = nights.get(key) ?? { night: undefined, readAt: -Infinity, reading: null };
      nights.delete(key);
      nights.set(key, cached);
      // A map is in the order of insertion, so the least recently used entry is first.
      for (const oldest of nights.keys()) if (nights.size > MOST_KEPT) nights.delete(oldest);
      if (performance.now() - cached.readAt > FRESH_MS) cached.reading ??= read(cached, scope);
      if (cached.night === undefined && cached.reading !== null) {
        await endsInTime(cached.reading, MOST_WAIT_MS);
      }
      return cached.night;
    },
  };
}

/** The charts of a night; empty for a night without jobs. */
export function nightHtml(night: Night | undefined, zone: string): Html {
  if (night === undefined) {
    return markup`<section aria-labelledby="night"><h2 id="night">The night</h2><p class="note">Its picture is being made: it is on this page when it is loaded again.</p></section>`;
  }
  const { points, models } = night;
  const isEmpty = points.every(
    ({ succeeded, refused, failed, running, waiting }) =>
      succeeded + refused + failed + running + waiting === 0,
  );
  if (isEmpty) return markup``;
  const called = models.filter(
    (model) => model.prompt_tokens + model.completion_tokens + model.model_ms > 0,
  );
  return markup`<section aria-labelledby="night"><h2 id="night">The night</h2>
${nightPicture(night, zone, "picture")}${called.length === 0 ? "" : modelsPicture(called)}</section>`;
}
