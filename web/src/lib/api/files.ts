// Files that go with a message.
import { ApiError, refusal, request } from './client';
import { filePath } from './paths';
import type { FileId, AttachedFile } from './types';

interface Upload {
  signal: AbortSignal;
  /** How much is sent, from 0 to 1. */
  onprogress: (share: number) => void;
}

export const files = {
  upload,
  /** One that was not sent yet. */
  remove: (id: FileId) => request<void>('DELETE', filePath(id)),
};

/** By XMLHttpRequest, since `fetch` does not tell how much of a body is sent. */
function upload(file: Blob, name: string, { signal, onprogress }: Upload): Promise<AttachedFile> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open('POST', `/api/files?${new URLSearchParams({ name })}`);
    // The name says what it is.
    call.setRequestHeader('content-type', 'application/octet-stream');
    call.upload.onprogress = ({ lengthComputable, loaded, total }) =>
      lengthComputable && total > 0 && onprogress(loaded / total);
    call.onload = () => {
      const { status, statusText, responseText } = call;
      if (status >= 200 && status < 300) return resolve(JSON.parse(responseText) as AttachedFile);
      const headers = { get: (header: string) => call.getResponseHeader(header) };
      reject(refusal({ status, statusText, headers }, responseText));
    };
    call.onerror = () => reject(ApiError.noAnswer('the upload was cut off'));
    call.onabort = () => reject(ApiError.noAnswer('the upload was cancelled'));
    signal.addEventListener('abort', () => call.abort(), { once: true });
    call.send(file);
  });
}
