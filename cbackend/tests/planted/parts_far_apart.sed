s/return next.ts == found.ts \&\& /return /
