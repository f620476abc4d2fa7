module leaderboard

go 1.26
