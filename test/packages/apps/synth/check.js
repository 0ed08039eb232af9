/** Checks the folder that `autoscaler synth` wrote, with Node alone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const folder = 'autoscaler-template';
const { Parameters, Resources } = JSON.parse(readFileSync(`${folder}/template.json`, 'utf8'));
const propertiesOf = (type) =>
  Object.values(Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties);

// only the parameters that docs/terraform.md names: nothing of CDK's bootstrap
assert.deepEqual(readdirSync(folder).sort(), ['assets', 'template.json']);
assert.deepEqual(Object.keys(Parameters).sort(), ['AssetBucket', 'AssetPrefix']);

// the template names the file to upload, and the file is a zip file with the function
const [lambda] = propertiesOf('AWS::Lambda::Function');
const [asset, ...others] = readdirSync(`${folder}/assets`);
assert.deepEqual(others, []);
assert.deepEqual(lambda.Code.S3Key['Fn::Join'][1], [{ Ref: 'AssetPrefix' }, asset]);
const zip = readFileSync(`${folder}/assets/${asset}`);
assert.equal(zip.toString('latin1', 0, 2), 'PK');
assert.ok(zip.includes('index.mjs') && zip.length > 500_000);

// the function accepts the configuration that the template stores
const numberOf = ({ Name }) => Number(/config-(\d+)$/.exec(Name['Fn::Join'][1].at(-1))?.[1]);
const parts = propertiesOf('AWS::SSM::Parameter')
  // the other one is the record of builds
  .filter((parameter) => numberOf(parameter) > 0)
  .sort((a, b) => numberOf(a) - numberOf(b));
const text = parts.map(({ Value }) => Value).join('');
const hash = createHash('sha256').update(text).digest('hex');
assert.equal(lambda.Environment.Variables.AUTOSCALER_CONFIG_SHA256, hash);
assert.equal(propertiesOf('AWS::ECS::Service').length, JSON.parse(text).config.pools.length);
