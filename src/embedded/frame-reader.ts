/** One message of a client: its type letter, and all its bytes with type and length. */
export type Frame = { readonly type: string; readonly bytes: Buffer };

export class BadFrame extends Error {}

export const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** The body of a message: what follows its type and length. */
export const bodyOf = (frame: Frame): Buffer => frame.bytes.subarray(5);

/** Cuts a stream of bytes, however it is split into packets, into the messages of the protocol. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** The next startup packet, which has no type. @throws BadFrame */
  startup(): Buffer | undefined {
    return this.#take(0);
  }

  /** The next message once it is complete. @throws BadFrame */
  frame(): Frame | undefined {
    const bytes = this.#take(1);
    return bytes && { type: String.fromCharCode(bytes[0] ?? 0), bytes };
  }

  #take(lengthAt: 0 | 1): Buffer | undefined {
    const header = lengthAt + 4;
    if (this.#size < header) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < header) this.#merge();
    const length = this.#chunks[0]?.readUInt32BE(lengthAt) ?? 0;
    if (length < 4 || length > MAX_FRAME_BYTES) {
      throw new BadFrame(`a message of ${length} bytes, allowed are 4 to ${MAX_FRAME_BYTES}`);
    }
    return this.#cut(lengthAt + length);
  }

  #cut(end: number): Buffer | undefined {
    if (this.#size < end) return undefined;
    // Once a message is complete, and not for every packet of it: that would copy a long one many times.
    if ((this.#chunks[0]?.length ?? 0) < end) this.#merge();
    const [first = Buffer.alloc(0), ...rest] = this.#chunks;
    this.#chunks = first.length === end ? rest : [first.subarray(end), ...rest];
    this.#size -= end;
    return first.subarray(0, end);
  }

  #merge(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }
}
