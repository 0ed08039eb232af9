#!/usr/bin/env node
/**
 * Stands in for "terraform providers mirror -platform=<platform> <folder>" in build stages: it reads
 * main.tf in the working directory and asks the registry of STUB_REGISTRY, as Terraform does.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [providers, mirror, option, folder] = process.argv.slice(2);
if (providers !== 'providers' || mirror !== 'mirror') throw new Error('only "providers mirror" is known');
const platform = option.replace('-platform=', '');
const main = readFileSync('main.tf', 'utf8');
const [, address] = /source\s*= "([^"]+)"/.exec(main);
const [, version] = /version = "([^"]+)"/.exec(main);
const [, namespace, type] = address.split('/');
const base = `${process.env.STUB_REGISTRY}/v1/providers/${namespace}/${type}`;
const { versions } = await (await fetch(`${base}/versions`)).json();
if (!versions.some((each) => each.version === version)) throw new Error(`no ${address} ${version}`);
const answer = await fetch(`${base}/${version}/download/${platform.replace('_', '/')}`);
if (!answer.ok) throw new Error(`${address} ${version} is not available for ${platform}`);
const { download_url: url, shasum } = await answer.json();
const zip = Buffer.from(await (await fetch(`${process.env.STUB_REGISTRY}${url}`)).arrayBuffer());
if (createHash('sha256').update(zip).digest('hex') !== shasum) throw new Error('checksum mismatch');
const target = join(folder, address);
mkdirSync(target, { recursive: true });
writeFileSync(join(target, `terraform-provider-${type}_${version}_${platform}.zip`), zip);
writeFileSync(join(target, 'index.json'), JSON.stringify({ versions: { [version]: {} } }));
