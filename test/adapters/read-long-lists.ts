/** Reads eight lists of jobs at once from the coderd at this URL, and prints their statuses. */
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';

const [url = ''] = process.argv.slice(2);
const http = new CoderdHttp({ url, token: { read: async () => new Secret('token') } });
const coderd = new CoderdAdapter(http);
const lists = await Promise.all(
  Array.from({ length: 8 }, (_, index) =>
    coderd.jobs({ id: `id-${index}` as OrganizationId, name: 'data' }, { version: 'v2.30.0' }),
  ),
);
console.log(lists.map(({ status, items }) => `${status} ${items.length}`).join());
await http.close();
