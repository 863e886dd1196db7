import { bytesOf } from "./mail-attachments.ts";
import type { MimePart } from "./mail-attachments.ts";

type ParsedMail = {
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly attachments: readonly Pick<MimePart, "mimeType" | "content">[];
  readonly text?: string | undefined;
};

/** The encrypted and signed parts of a mail: a sentence for each, and how many parts need a key. */
export type Sealed = {
  readonly notes: readonly string[];
  readonly encrypted: number;
  /** Removes the blocks of ciphertext and signatures from a text. */
  readonly withoutSeals: (text: string) => string;
};

const ENCRYPTED = (by: string): string =>
  `The mail is encrypted by ${by}: its words can't be read here.`;
const BLOCK = /-----BEGIN PGP (MESSAGE|SIGNATURE)-----[\s\S]*?(?:-----END PGP \1-----|$)/g;
const SIGNED = /^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Z][\w-]{0,40}: .*\n)*\n?/gm;

export function readSealed({ attachments, headers, text = "" }: ParsedMail): Sealed {
  const type = headers.find(({ key }) => key === "content-type")?.value ?? "";
  const notes: string[] = [];
  const smime = attachments.filter(({ mimeType }) =>
    /^application\/(?:x-)?pkcs7-mime$/i.test(mimeType),
  );
  const isSigned = /smime-type="?signed-data/i.test(type);
  const byPgp = attachments.filter(
    (part) =>
      /^application\/pgp-encrypted$/i.test(part.mimeType) ||
      bytesOf(part).subarray(0, 64).includes("-----BEGIN PGP MESSAGE-----"),
  );
  const inText = text.match(/-----BEGIN PGP MESSAGE-----/g)?.length ?? 0;
  if (smime.length > 0)
    notes.push(
      isSigned
        ? "The mail is in an envelope of S/MIME, signed: its words can't be read here."
        : ENCRYPTED("S/MIME"),
    );
  const pgp =
    Math.max(/^multipart\/encrypted/i.test(type) ? 1 : 0, byPgp.length > 0 ? 1 : 0) + inText;
  if (pgp > 0) notes.push(ENCRYPTED("PGP"));
  return {
    notes,
    encrypted: (smime.length > 0 ? 1 : 0) + pgp,
    withoutSeals: (body) => body.replaceAll(SIGNED, "").replaceAll(BLOCK, ""),
  };
}
