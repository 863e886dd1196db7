const STEP = 512;

/** Translates UTF-16 offsets of a text into code point offsets. */
export function codePointOffsets(text: string): (offset: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const pairsAtStep: number[] = [];
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at % STEP === 0) pairsAtStep.push(pairs);
    if (isHighSurrogate(text, at)) pairs += 1;
  }
  return (offset) => {
    const step = Math.min(Math.floor(offset / STEP), pairsAtStep.length - 1);
    let before = pairsAtStep[step] ?? 0;
    for (let at = step * STEP; at < offset; at += 1) if (isHighSurrogate(text, at)) before += 1;
    return offset - before;
  };
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
