module dotenvregexps

go 1.26

require github.com/joho/godotenv v1.3.0
