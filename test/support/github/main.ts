/**
 * The double as a process of its own: `node test/support/github/main.ts --port 0 --dir DIR`.
 * Prints one line of JSON with its URLs and the app's credentials, then serves until SIGTERM or SIGINT.
 */
import { parseArgs } from 'node:util';
import { remoteControls } from './control-api.ts';
import { createGitHubDouble } from './create-github-double.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    dir: { type: 'string' },
    'webhook-url': { type: 'string' },
    'app-id': { type: 'string' },
    echo: { type: 'boolean', default: false },
    // Ends when standard input does, so that a starter that is killed leaves no process behind.
    'end-with-stdin': { type: 'boolean', default: false },
  },
});
const double = await createGitHubDouble({
  port: Number(values.port),
  echo: values.echo,
  ...(values.dir === undefined ? {} : { dir: values.dir }),
  ...(values['webhook-url'] === undefined ? {} : { webhookUrl: values['webhook-url'] }),
  ...(values['app-id'] === undefined ? {} : { app: { id: Number(values['app-id']) } }),
});
process.stdout.write(`${JSON.stringify(await remoteControls(double).info())}\n`);
const end = () => {
  double.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.once('SIGTERM', end);
process.once('SIGINT', end);
if (values['end-with-stdin']) process.stdin.once('end', end).resume();
