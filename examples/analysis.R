# Run it: belljar run --save-artifacts out examples/analysis.R
# The figure arrives as figure-1.png, the table as result.csv.
speeds <- aggregate(dist ~ speed, cars, mean)
plot(speeds, type = "b", main = "How far a car goes until it stops", xlab = "mph", ylab = "ft")
cat("correlation:", round(cor(cars$speed, cars$dist), 2), "\n")
speeds
