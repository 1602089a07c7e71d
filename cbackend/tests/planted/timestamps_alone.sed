s/__builtin_expect(stands.ts == comes.ts, 0)/false/
