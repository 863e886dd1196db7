import { hash } from "node:crypto";

const FIRST_SLOTS = 1 << 14;

/**
 * Remembers the line of every custom_id in about 20 bytes each, so that a million lines take 24 to 48 MB whatever
 * the ids' length: 64 bits of SHA-256 and the line, in typed arrays with open addressing. Two different ids are taken
 * for one with a probability of 3e-8 in a million lines.
 */
export class SeenIds {
  #keys = new BigUint64Array(FIRST_SLOTS);
  #lines = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** @returns the line where the id was seen before, or undefined when it is new; it is remembered then */
  add(customId: string, line: number): number | undefined {
    if (this.#size * 2 >= this.#keys.length) this.#grow();
    const key = keyOf(customId);
    const slot = this.#find(key);
    const seenAt = this.#lines[slot];
    if (seenAt !== undefined && seenAt !== 0) return seenAt;
    this.#keys[slot] = key;
    this.#lines[slot] = line;
    this.#size += 1;
    return undefined;
  }

  /** The slot of a key, or the free one where it belongs. A free slot holds line 0. */
  #find(key: bigint): number {
    const mask = this.#keys.length - 1;
    let slot = Number(BigInt.asUintN(32, key)) & mask;
    while (this.#lines[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const lines = this.#lines;
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#lines = new Uint32Array(keys.length * 2);
    lines.forEach((line, index) => {
      const key = keys[index];
      if (line === 0 || key === undefined) return;
      const slot = this.#find(key);
      this.#keys[slot] = key;
      this.#lines[slot] = line;
    });
  }
}

const keyOf = (customId: string): bigint => hash("sha256", customId, "buffer").readBigUInt64LE();
