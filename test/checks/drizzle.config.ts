import { defineConfig } from 'drizzle-kit';

// Paths are relative to the repository, where `npm run db:generate` runs.
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/store/schema.ts',
  out: './src/store/migrations',
});
