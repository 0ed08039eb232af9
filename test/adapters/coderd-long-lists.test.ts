/** Lists of coderd that are longer than the memory. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serve } from '../support/servers.ts';

const ROW = JSON.stringify({
  id: 'b6f5f2f4-54a1-4c0e-9d1f-6c6c5b0b7a11',
  created_at: '2026-01-01T00:00:00Z',
  status: 'pending',
  organization_id: 'o',
  tags: { scope: 'organization', owner: '', region: 'eu-west-1' },
  type: 'workspace_build',
  metadata: { workspace_name: 'w'.repeat(600) },
});
/** About 64 MB, of which a list of 1000 rows is a small part. */
const ALL = Array.from({ length: 70 }, () => `${ROW},`.repeat(1000));

it('reads eight lists at once that are longer than the memory, and is left with their newest rows', async () => {
  const url = await serve((request, response) => {
    const isWhole = new URL(request.url ?? '', 'http://coderd').searchParams.get('limit') === '0';
    response.write('[');
    for (const part of isWhole ? ALL : ALL.slice(0, 1))
      response.write(part.slice(0, isWhole ? undefined : -1));
    response.end(isWhole ? `${ROW}]` : ']');
  });
  const script = fileURLToPath(new URL('read-long-lists.ts', import.meta.url));
  const read = promisify(execFile)(process.execPath, ['--max-old-space-size=128', script, url]);
  expect((await read).stdout.trim()).toBe(Array.from({ length: 8 }, () => 'truncated 1000').join());
});
