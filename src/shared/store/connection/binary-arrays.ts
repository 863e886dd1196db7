// Arrays in the binary format that Postgres reads (array_recv): number of dimensions, whether there may be nulls, type of the
// elements, length, first index; then each element's length and bytes, length -1 for a null. Everything is big-endian. The driver
// would write text and quote each element, and the server would have to parse that.

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const TYPES = { bigint: 20, integer: 23, text: 25 } as const;

function openArray(type: keyof typeof TYPES, length: number, elementBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + length * LENGTH_BYTES + elementBytes);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(TYPES[type], 8);
  bytes.writeInt32BE(length, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}

/** A parameter for `$1::integer[]`. */
export function integerArray(values: ArrayLike<number>): Buffer {
  const bytes = openArray("integer", values.length, values.length * 4);
  let at = HEADER_BYTES;
  for (let index = 0; index < values.length; index += 1) {
    bytes.writeInt32BE(4, at);
    bytes.writeInt32BE(values[index] ?? 0, at + 4);
    at += 8;
  }
  return bytes;
}

/** A parameter for `$1::text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  const total = values.reduce(
    (sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)),
    0,
  );
  const bytes = openArray("text", values.length, total);
  let at = HEADER_BYTES;
  for (const text of values) {
    const length = text === null ? -1 : bytes.write(text, at + LENGTH_BYTES);
    bytes.writeInt32BE(length, at);
    at += LENGTH_BYTES + Math.max(length, 0);
  }
  return bytes;
}

export type BigintArray = {
  /** A parameter for `$1::bigint[]`. */
  readonly bytes: Buffer;
  /** Sets the element at an index from 0 by its upper and lower 32 bits. */
  readonly set: (index: number, high: number, low: number) => void;
};

const BIGINT_BYTES = 8;

/** Opens an array; the caller must set every element. */
export function openBigintArray(length: number): BigintArray {
  const bytes = openArray("bigint", length, length * BIGINT_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES);
  return {
    bytes,
    set(index, high, low) {
      const at = index * (LENGTH_BYTES + BIGINT_BYTES);
      view.setInt32(at, BIGINT_BYTES);
      view.setInt32(at + 4, high);
      view.setInt32(at + 8, low);
    },
  };
}
