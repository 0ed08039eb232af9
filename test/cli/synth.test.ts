import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support/cli-run.ts';
import { ownFolder } from '../support/own-folder.ts';

const dir = ownFolder();

it('writes a template and its assets, and says what to do with them', async () => {
  const out = join(dir, 'written');
  const answer = await run('synth', '--config', 'autoscaler.example.yaml', '--out', out);
  expect(answer).toMatchObject({ code: 0, err: '' });
  expect(answer.out).toMatch(/^wrote\n {2}\S+template\.json {2}1\d\d KB\n {2}\S+\.zip {2}1\.\d MB\n/);
  expect(answer.out).toContain('upload the folder assets to an S3 bucket');
  expect(readdirSync(out).sort()).toEqual(['assets', 'template.json']);
  const [, shown = ''] = /^ {3}(wrote\n.*?)\n {3}```/ms.exec(readFileSync('docs/terraform.md', 'utf8')) ?? [];
  const plain = (text: string): string => text.replaceAll(/[\d.]+ (?=[KM]B)/g, 'N ').replaceAll(/^ +/gm, '');
  expect(
    plain(answer.out.replaceAll(`${out}/`, 'autoscaler-template/').replace(/\w{64}/, '<hash>')),
  ).toContain(plain(shown));
});

describe('the module of examples/terraform', () => {
  const module = readFileSync('examples/terraform/autoscaler.tf', 'utf8').replaceAll(/^ *#.*\n/gm, '');
  const namesIn = (pattern: RegExp): readonly string[] => [
    ...new Set([...module.matchAll(pattern)].map(([, ...names]) => names.filter(Boolean).join('.'))),
  ];

  const [, parameters = ''] = /^ +parameters = \{\n(.*?)\n +\}/ms.exec(module) ?? [];

  // without it the apply after a rollback updates nothing, succeeds, and deletes the code that runs
  it('tells CloudFormation which template it has, because Terraform keeps the new URL after a rollback', () => {
    expect(parameters).toMatch(/^ +TemplateHash = filesha256\("\$\{var\.template\}\/template\.json"\)$/m);
    const template = /^resource "aws_cloudformation_stack".*?^}/ms.exec(module)?.[0] ?? '';
    expect(template).toContain('aws_s3_object.template.key');
    // so the earlier code is there until the update has succeeded
    expect(template).toMatch(/depends_on += \[aws_s3_object\.assets, /);
    expect(module.match(/create_before_destroy = true/g)).toHaveLength(2);
  });

  it('closes each of its blocks, lists and texts', () => {
    const rest = (text: string): string => {
      const less = text.replaceAll(/"[^"\n${}]*"|\$?\{[^{}[\]()"]*\}|\[[^{}[\]()"]*\]|\([^{}[\]()"]*\)/g, '');
      return less === text ? text : rest(less);
    };
    expect(rest(module)).not.toMatch(/["{}[\]()]/);
  });

  it('declares every variable and resource that it uses, and uses each variable', () => {
    const variables = namesIn(/^variable "(\w+)"/gm);
    const resources = namesIn(/^resource "(\w+)" "(\w+)"/gm);
    expect(namesIn(/\bvar\.(\w+)/g).toSorted()).toEqual(variables.toSorted());
    expect(namesIn(/\b(aws_\w+)\.(\w+)/g).filter((name) => !resources.includes(name))).toEqual([]);
    expect(resources).toContain('aws_cloudformation_stack.autoscaler');
  });

  it('passes tags, the role and the boundary on, and refuses a template with another key', () => {
    const stack = /^resource "aws_cloudformation_stack".*?^}/ms.exec(module)?.[0] ?? '';
    expect(stack).toMatch(/iam_role_arn += var\.cloudformation_role\n/);
    expect(stack).toMatch(/tags += var\.tags\n/);
    expect(stack).toMatch(/PermissionsBoundary += var\.permissions_boundary\n/);
    expect(stack).toMatch(/precondition \{\n +condition += var\.kms_key == null \? true : /);
    expect(module).toMatch(/kms_master_key_id = var\.kms_key\n/);
  });

  it('gives each role the boundary of the parameter, and each pool an output with its role', () => {
    const { Resources, Outputs } = JSON.parse(readFileSync(join(dir, 'written', 'template.json'), 'utf8'));
    const roles = Object.values<{ readonly Type: string; readonly Properties?: object }>(Resources).filter(
      ({ Type }) => Type === 'AWS::IAM::Role',
    );
    const boundary = ['HasPermissionsBoundary', { Ref: 'PermissionsBoundary' }, { Ref: 'AWS::NoValue' }];
    expect(roles.length).toBeGreaterThan(3);
    for (const { Properties } of roles)
      expect(Properties).toMatchObject({ PermissionsBoundary: { 'Fn::If': boundary } });
    const pools = Object.keys(Outputs).filter((name) => name.startsWith('TaskRole'));
    expect(pools).toEqual(['TaskRoledefault', 'TaskRolelarge', 'TaskRoledata']);
  });

  it('gives the template its parameters, reads an output that it has, and uploads what it needs', () => {
    const written = JSON.parse(readFileSync(join(dir, 'written', 'template.json'), 'utf8'));
    const needed = Object.entries<object>(written.Parameters).flatMap(([name, one]) =>
      'Default' in one && one.Default !== undefined ? [] : [name],
    );
    const given = [...parameters.matchAll(/^ +(\w+) += /gm)].map(([, name]) => name);
    expect(given).toEqual([...needed, 'PermissionsBoundary', 'TemplateHash']);
    expect(Object.keys(written.Parameters)).toEqual(expect.arrayContaining(given));
    const read = namesIn(/outputs(?:\["|, ")(\w+)"/g);
    expect(read).toEqual(['ClusterName', 'SecurityGroupIds', 'TopicArn', 'FunctionName', 'LogGroupName']);
    expect(Object.keys(written.Outputs)).toEqual(expect.arrayContaining([...read]));
    expect(module).toMatch(/fileset\("\$\{var\.template\}\/assets", "\*"\)/);
    expect(namesIn(/default += "(autoscaler-template)"/g)).toHaveLength(1);
  });
});

it.each([
  { config: 'vpc: vpc-0123456789abcdef0', says: /network\.subnets: missing, but vpc is set; write the ids/ },
  { config: 'vpc: shared', says: /network\.vpc: / },
])('refuses a network that it would have to look up: $config', async ({ config, says }) => {
  const file = join(dir, 'lookup.yaml');
  const rest =
    'coder: {url: "https://c.example.com", token: {secret: t}}\npools: [{name: a, organization: o, key: {secret: k}}]';
  writeFileSync(file, `${rest}\naws: {network: {${config}}}\n`);
  const { code, err } = await run('synth', '--config', file, '--out', join(dir, 'lookup'));
  expect(code).toBe(1);
  expect(err).toMatch(says);
});

it('refuses a folder with other files', async () => {
  const { code, out, err } = await run('synth', '--config', 'autoscaler.example.yaml', '--out', 'docs');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(
    /^writing to docs: the folder has other files \(adr and \d+ more\); give an empty folder/,
  );
});

it('names the missing package where aws-cdk-lib is not installed', () => {
  const hide = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    const elsewhere = { ...context, parentURL: 'file:///nowhere/else.mjs' };
    return next(name, name.startsWith('aws-cdk-lib') ? elsewhere : context);
  },
});`;
  const hook = `data:text/javascript,${encodeURIComponent(hide)}`;
  const args = ['--import', hook, 'cli/main.ts', 'synth', '--config', 'autoscaler.example.yaml'];
  const { status, stderr } = spawnSync(process.execPath, [...args, '--out', join(dir, 'hidden')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(
    /^writing a template: the package aws-cdk-lib is not installed; run: npm install coder-provisioner-autoscaler aws-cdk-lib constructs\n$/m,
  );
  expect(status).toBe(1);
});
