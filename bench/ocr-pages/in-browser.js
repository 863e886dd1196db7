// Runs in the page that a browser drew: where its figures stand, and what a scanner makes of its picture.

/** Makes the type smaller until the page holds all of it. */
globalThis.fit = () => {
  const { style, scrollHeight, scrollWidth } = document.body;
  for (
    let part = 100;
    document.body.scrollHeight > innerHeight || document.body.scrollWidth > innerWidth;
    part -= 4
  ) {
    if (part < 60) throw new Error(`A page of ${scrollWidth} by ${scrollHeight} is too large.`);
    style.fontSize = `calc(var(--points) * ${part / 100})`;
  }
};

/** Words with a digit: text, box in CSS pixels, and whether a no-break space ties it to the one before. */
globalThis.findFigures = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const { 0: text, index } of node.data.matchAll(/\S+/g)) {
      if (!/\d/.test(text.normalize("NFKC"))) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + text.length);
      const rects = [...range.getClientRects()];
      if (rects.length !== 1) throw new Error(`${text} stands at ${rects.length} places.`);
      const { left, top, right, bottom } = rects[0];
      found.push({
        text,
        box: [left, top, right, bottom],
        glued: /\d\u00A0$/.test(node.data.slice(0, index)),
      });
    }
  }
  return found;
};

/** The same noise for the same seed. */
const noiseOf = (seed) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

const base64 = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
};

/**
 * Puts the drawn page on the glass: leaning, blurred, with noise and specks, then turned.
 * @returns base64 of a file (`image/…`), of grey bytes (`grey`), or of bits in which 1 is white (`bits`)
 */
globalThis.scan = async ({
  picture,
  paper,
  width,
  height,
  skew,
  blur,
  noise,
  seed,
  turn,
  form,
  quality,
}) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const sheet = new OffscreenCanvas(width, height);
  const pen = sheet.getContext("2d", { willReadFrequently: true });
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, width, height);
  pen.imageSmoothingQuality = "high";
  pen.filter = blur === 0 ? "none" : `blur(${blur}px)`;
  pen.scale(width / paper.width, height / paper.height);
  pen.translate(paper.width / 2, paper.height / 2);
  pen.rotate((skew * Math.PI) / 180);
  pen.drawImage(image, -paper.width / 2, -paper.height / 2, paper.width, paper.height);
  if (noise > 0) soil(pen, width, height, noise, noiseOf(seed));

  const isSideways = turn % 180 !== 0;
  const [wide, high] = isSideways ? [height, width] : [width, height];
  const glass = new OffscreenCanvas(wide, high);
  const out = glass.getContext("2d", { willReadFrequently: true });
  out.translate(wide / 2, high / 2);
  out.rotate((-turn * Math.PI) / 180);
  out.drawImage(sheet, -width / 2, -height / 2);
  if (form.startsWith("image/")) {
    const file = await glass.convertToBlob({ type: form, quality });
    return { wide, high, data: base64(new Uint8Array(await file.arrayBuffer())) };
  }
  const { data } = out.getImageData(0, 0, wide, high);
  return {
    wide,
    high,
    data: base64(form === "grey" ? greyOf(data) : bitsOf(greyOf(data), wide, high)),
  };
};

function soil(pen, width, height, noise, random) {
  const picture = pen.getImageData(0, 0, width, height);
  const { data } = picture;
  for (let at = 0; at < data.length; at += 4) {
    const grain = (random() + random() + random() - 1.5) * noise;
    // Ink is paler and paper darker than drawn.
    for (let of = at; of < at + 3; of += 1) data[of] = 30 + data[of] * 0.83 + grain;
  }
  pen.putImageData(picture, 0, 0);
  pen.resetTransform();
  pen.filter = "none";
  pen.fillStyle = "rgb(60 60 60 / 0.7)";
  for (let speck = 0; speck < noise; speck += 1)
    pen.fillRect(random() * width, random() * height, 1 + random(), 1 + random());
}

function greyOf(data) {
  const grey = new Uint8Array(data.length / 4);
  for (let at = 0; at < grey.length; at += 1)
    grey[at] = data[at * 4] * 0.299 + data[at * 4 + 1] * 0.587 + data[at * 4 + 2] * 0.114;
  return grey;
}

function bitsOf(grey, wide, high) {
  const bytes = Math.ceil(wide / 8);
  const bits = new Uint8Array(bytes * high);
  for (let y = 0; y < high; y += 1)
    for (let x = 0; x < wide; x += 1)
      if (grey[y * wide + x] > 170) bits[y * bytes + (x >> 3)] |= 128 >> (x & 7);
  return bits;
}
