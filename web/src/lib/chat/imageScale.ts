// Photos of phones are larger than servers of models take, and than models see.

/** The server refuses a larger picture. */
export const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;
/** Models see no more pixels than this along an edge. */
const MAX_EDGE_PX = 2_048;
const JPEG_QUALITY = 0.85;
/** What browsers decode and a canvas may hold. Vector graphics and animations stay as they are. */
const SCALED_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/bmp', 'image/avif'];

export function needsScaling({ type, size }: Pick<File, 'type' | 'size'>): boolean {
  return size > MAX_IMAGE_BYTES && SCALED_TYPES.includes(type);
}

/** The size that fits, in the same proportions. */
export function fittedSize(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, MAX_EDGE_PX / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

/** A picture that is too large, smaller. What the browser cannot read stays as it is: the server
    judges it. */
export async function scaleImage(file: File): Promise<File> {
  if (!needsScaling(file)) return file;
  try {
    const picture = await createImageBitmap(file);
    const { width, height } = fittedSize(picture.width, picture.height);
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d')?.drawImage(picture, 0, 0, width, height);
    picture.close();
    const content = await canvas.convertToBlob({ type: 'image/jpeg', quality: JPEG_QUALITY });
    return new File([content], file.name.replace(/\.\w+$/, '') + '.jpg', { type: content.type });
  } catch {
    return file;
  }
}
