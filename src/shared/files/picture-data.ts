/** Types that a browser shows without running any code. */
export const PICTURE_TYPES = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/bmp",
] as const;
type PictureType = (typeof PICTURE_TYPES)[number];

const SIGNATURES: readonly (readonly [PictureType, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
  ["image/bmp", /^BM/],
];

/** The type of a picture by its first bytes; undefined for anything else. */
export const pictureTypeOf = (bytes: Buffer): PictureType | undefined =>
  SIGNATURES.find(([, sign]) => sign.test(bytes.toString("latin1", 0, 16)))?.[0];

/** Types that hosts of vision models accept. */
const SENT_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;
/** The limit of one picture; a line of a batch has 8 MiB. */
const MOST_BYTES = 5_000_000;

const HEAD = /^data:(image\/[a-z.+-]{1,20});base64$/;

type PictureData = { readonly bytes: Buffer; readonly base64: string };

/** The picture in a data URL, or the problem as a clause that follows its name. */
export function readDataUrl(url: string): PictureData | string {
  const comma = url.indexOf(",");
  const type = HEAD.exec(url.slice(0, Math.max(0, comma)))?.[1];
  if (type === undefined) {
    return "must be a data URL, data:image/png;base64,…: pictures are not fetched from anywhere";
  }
  if (!SENT_TYPES.some((sent) => sent === type))
    return `is ${type}; expected one of ${SENT_TYPES.join(", ")}`;
  const base64 = url.slice(comma + 1);
  if (base64.length > (MOST_BYTES * 4) / 3) return `is larger than ${MOST_BYTES / 1e6} MB`;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) return "is no base64, or cut short";
  return pictureTypeOf(bytes) === type ? { bytes, base64 } : `does not begin as ${type} does`;
}
