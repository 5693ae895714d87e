// Only what Biome cannot see: promises that nobody waits for, and clocks of processes where the database's counts.
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/node_modules/', '**/dist/', '**/*.mjs', '**/*.cjs', '**/*.js'] },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: ['./tsconfig.json'],
        tsconfigRootDir: new URL('../..', import.meta.url).pathname,
      },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    },
  },
  {
    files: ['src/store/**/*.ts'],
    // Waits for processes of this machine.
    ignores: ['src/store/embedded-postgres.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'NewExpression[callee.name="Date"][arguments.length=0]',
          'MemberExpression[object.name="Date"]',
        ].map((selector) => ({
          selector,
          message: 'Times of rows come from the clock of the database: store/clock.ts.',
        })),
      ],
    },
  },
);
