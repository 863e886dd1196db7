import { setTimeout as pause } from "node:timers/promises";

/**
 * Asks again and again until the answer is yes.
 * @param {() => Promise<boolean>} ask
 * @param {number} limitMs
 * @returns {Promise<boolean>} false when the time is up
 */
export async function waitUntil(ask, limitMs) {
  const end = performance.now() + limitMs;
  while (!(await ask())) {
    if (performance.now() > end) return false;
    await pause(50);
  }
  return true;
}
