-- ibis 12.0.0, sqlglot 30.17.0

-- bins of whole numbers
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t3`.`code_0`,
  `t3`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t2`.`code_0`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t1`.`value_0`,
      CASE
        WHEN (
          `t1`.`value_0` > CAST('0.0' AS FLOAT64)
        )
        AND (
          `t1`.`value_0` <= CAST('119.0' AS FLOAT64)
        )
        THEN CAST(TRUNC(CAST(CEIL(`t1`.`value_0`) AS INT64) - CAST('0.0' AS FLOAT64)) AS INT64)
        WHEN (
          `t1`.`value_0` IS NULL
        ) OR IS_NAN(`t1`.`value_0`)
        THEN -1
        WHEN `t1`.`value_0` <= CAST('0.0' AS FLOAT64)
        THEN 0
        ELSE 120
      END AS `code_0`
    FROM (
      SELECT
        CAST(`t0`.`age` AS FLOAT64) AS `value_0`
      FROM `visits` AS `t0`
    ) AS `t1`
  ) AS `t2`
  GROUP BY
    1
) AS `t3`
LIMIT 16777217;

-- bins of an even grid
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t2`.`code_0`,
  `t2`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t1`.`code_0`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t0`.`risk` AS `value_0`,
      CASE
        WHEN (
          `t0`.`risk` > CAST('0.125' AS FLOAT64)
        )
        AND (
          `t0`.`risk` <= CAST('0.875' AS FLOAT64)
        )
        THEN CAST(CEIL((
          `t0`.`risk` - CAST('0.0' AS FLOAT64)
        ) * CAST('8.0' AS FLOAT64)) AS INT64) - 1
        WHEN (
          `t0`.`risk` IS NULL
        ) OR IS_NAN(`t0`.`risk`)
        THEN -1
        WHEN `t0`.`risk` <= CAST('0.125' AS FLOAT64)
        THEN 0
        ELSE 7
      END AS `code_0`
    FROM `visits` AS `t0`
  ) AS `t1`
  GROUP BY
    1
) AS `t2`
LIMIT 16777217;

-- bins of a grid with rounded thresholds
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t2`.`code_0`,
  `t2`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t1`.`code_0`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t0`.`risk` AS `value_0`,
      CASE
        WHEN (
          `t0`.`risk` > CAST('0.2' AS FLOAT64)
        )
        AND (
          `t0`.`risk` <= CAST('0.6' AS FLOAT64)
        )
        THEN CAST(TRUNC(
          (
            (
              CAST(CAST(CEIL((
                `t0`.`risk` - CAST('0.1' AS FLOAT64)
              ) * CAST('10.0' AS FLOAT64)) AS INT64) AS FLOAT64) - CAST('1.0' AS FLOAT64)
            ) + IF(
              (
                CAST('0.1' AS FLOAT64) + (
                  CAST('0.6' AS FLOAT64) * ieee_divide(
                    (
                      CAST(CAST(CEIL((
                        `t0`.`risk` - CAST('0.1' AS FLOAT64)
                      ) * CAST('10.0' AS FLOAT64)) AS INT64) AS FLOAT64) - CAST('1.0' AS FLOAT64)
                    ) + CAST('1.0' AS FLOAT64),
                    CAST('6.0' AS FLOAT64)
                  )
                )
              ) < `t0`.`risk`,
              CAST('1.0' AS FLOAT64),
              CAST('0.0' AS FLOAT64)
            )
          ) - IF(
            (
              CAST('0.1' AS FLOAT64) + (
                CAST('0.6' AS FLOAT64) * ieee_divide(
                  (
                    (
                      CAST(CAST(CEIL((
                        `t0`.`risk` - CAST('0.1' AS FLOAT64)
                      ) * CAST('10.0' AS FLOAT64)) AS INT64) AS FLOAT64) - CAST('1.0' AS FLOAT64)
                    ) - CAST('1.0' AS FLOAT64)
                  ) + CAST('1.0' AS FLOAT64),
                  CAST('6.0' AS FLOAT64)
                )
              )
            ) >= `t0`.`risk`,
            CAST('1.0' AS FLOAT64),
            CAST('0.0' AS FLOAT64)
          )
        ) AS INT64)
        WHEN (
          `t0`.`risk` IS NULL
        ) OR IS_NAN(`t0`.`risk`)
        THEN -1
        WHEN `t0`.`risk` <= CAST('0.2' AS FLOAT64)
        THEN 0
        ELSE 5
      END AS `code_0`
    FROM `visits` AS `t0`
  ) AS `t1`
  GROUP BY
    1
) AS `t2`
LIMIT 16777217;

-- bins of a geometric grid, missing values low
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t9`.`code_0`,
  `t9`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t8`.`code_0`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t7`.`value_0`,
      `t7`.`code_0_key`,
      `t7`.`code_0_key_right`,
      `t7`.`code_0_lowest`,
      `t7`.`code_0_0`,
      `t7`.`code_0_1`,
      CASE
        WHEN (
          `t7`.`value_0` > CAST('0.02154434690031884' AS FLOAT64)
        )
        AND (
          `t7`.`value_0` <= CAST('0.46415888336127803' AS FLOAT64)
        )
        THEN `t7`.`code_0_lowest` + IF(`t7`.`code_0_0` < `t7`.`value_0`, 1, 0) + IF(`t7`.`code_0_1` < `t7`.`value_0`, 1, 0)
        WHEN (
          `t7`.`value_0` IS NULL
        ) OR IS_NAN(`t7`.`value_0`)
        THEN -1
        WHEN `t7`.`value_0` <= CAST('0.02154434690031884' AS FLOAT64)
        THEN 0
        ELSE 5
      END AS `code_0`
    FROM (
      SELECT
        `t4`.`value_0`,
        `t4`.`code_0_key`,
        `t6`.`code_0_key` AS `code_0_key_right`,
        `t6`.`code_0_lowest`,
        `t6`.`code_0_0`,
        `t6`.`code_0_1`
      FROM (
        SELECT
          `t0`.`risk` AS `value_0`,
          CASE
            WHEN (
              `t0`.`risk` > CAST('0.02154434690031884' AS FLOAT64)
            )
            AND (
              `t0`.`risk` <= CAST('0.46415888336127803' AS FLOAT64)
            )
            THEN CASE
              WHEN `t0`.`risk` <= CAST('0.46415888336127803' AS FLOAT64)
              THEN 0 + CAST(FLOOR(
                (
                  `t0`.`risk` - CAST('0.021544346900318843' AS FLOAT64)
                ) * CAST('18.074417672691236' AS FLOAT64)
              ) AS INT64)
              ELSE 0
            END
            ELSE -1
          END AS `code_0_key`
        FROM `visits` AS `t0`
      ) AS `t4`
      LEFT OUTER JOIN (
        SELECT
          CAST(`t2`.`fields`[safe_offset(0)] AS INT64) AS `code_0_key`,
          CAST(`t2`.`fields`[safe_offset(1)] AS INT64) AS `code_0_lowest`,
          CAST(`t2`.`fields`[safe_offset(2)] AS FLOAT64) AS `code_0_0`,
          CAST(`t2`.`fields`[safe_offset(3)] AS FLOAT64) AS `code_0_1`
        FROM (
          SELECT
            SPLIT(`t1`.`row`, ',') AS `fields`
          FROM (
            SELECT
              IF(pos = pos_2, `row`, NULL) AS `row`
            FROM UNNEST(GENERATE_ARRAY(
              0,
              GREATEST(
                ARRAY_LENGTH(
                  SPLIT(
                    '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                    ';'
                  )
                )
              ) - 1
            )) AS pos
            CROSS JOIN UNNEST(SPLIT(
              '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
              ';'
            )) AS `row` WITH OFFSET AS pos_2
            WHERE
              pos = pos_2
              OR (
                pos > (
                  ARRAY_LENGTH(
                    SPLIT(
                      '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                      ';'
                    )
                  ) - 1
                )
                AND pos_2 = (
                  ARRAY_LENGTH(
                    SPLIT(
                      '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                      ';'
                    )
                  ) - 1
                )
              )
          ) AS `t1`
        ) AS `t2`
      ) AS `t6`
        ON `t4`.`code_0_key` = `t6`.`code_0_key`
    ) AS `t7`
  ) AS `t8`
  GROUP BY
    1
) AS `t9`
LIMIT 16777217;

-- bins of each class
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t2`.`code_0`,
  `t2`.`code_1`,
  `t2`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t1`.`code_0`,
    `t1`.`code_1`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t0`.`risk` AS `value_0`,
      `t0`.`sick` AS `value_1`,
      CASE
        WHEN (
          `t0`.`risk` > CAST('0.125' AS FLOAT64)
        )
        AND (
          `t0`.`risk` <= CAST('0.875' AS FLOAT64)
        )
        THEN CAST(CEIL((
          `t0`.`risk` - CAST('0.0' AS FLOAT64)
        ) * CAST('8.0' AS FLOAT64)) AS INT64) - 1
        WHEN (
          `t0`.`risk` IS NULL
        ) OR IS_NAN(`t0`.`risk`)
        THEN -1
        WHEN `t0`.`risk` <= CAST('0.125' AS FLOAT64)
        THEN 0
        ELSE 7
      END AS `code_0`,
      `t0`.`sick` AS `code_1`
    FROM `visits` AS `t0`
  ) AS `t1`
  GROUP BY
    1,
    2
) AS `t2`
LIMIT 16777217;

-- sums of probabilities
SELECT
  `t3`.`amounts`,
  `t3`.`code_0`,
  `t3`.`code_1`,
  `t3`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t2`.`code_0`,
    `t2`.`code_1`,
    COUNT(*) AS `rows`,
    CAST(SUM(`t2`.`amount_0`) AS STRING) AS `amounts`
  FROM (
    SELECT
      `t1`.`value_0`,
      `t1`.`value_1`,
      CASE
        WHEN (
          `t1`.`value_0` > CAST('0.125' AS FLOAT64)
        )
        AND (
          `t1`.`value_0` <= CAST('0.875' AS FLOAT64)
        )
        THEN CAST(CEIL((
          `t1`.`value_0` - CAST('0.0' AS FLOAT64)
        ) * CAST('8.0' AS FLOAT64)) AS INT64) - 1
        WHEN (
          `t1`.`value_0` IS NULL
        ) OR IS_NAN(`t1`.`value_0`)
        THEN -1
        WHEN `t1`.`value_0` <= CAST('0.125' AS FLOAT64)
        THEN 0
        ELSE 7
      END AS `code_0`,
      `t1`.`value_1` AS `code_1`,
      CAST(TRUNC(
        CAST(CAST(FLOOR(
          IF(
            COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
            CAST('0.0' AS FLOAT64),
            IF(
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
              CAST('1.0' AS FLOAT64),
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
            )
          ) * CAST('1048576.0' AS FLOAT64)
        ) AS INT64) AS FLOAT64)
      ) AS INT64) + CASE
        WHEN (
          (
            IF(
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
              CAST('0.0' AS FLOAT64),
              IF(
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
                CAST('1.0' AS FLOAT64),
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
              )
            ) * CAST('1048576.0' AS FLOAT64)
          ) - CAST(CAST(FLOOR(
            IF(
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
              CAST('0.0' AS FLOAT64),
              IF(
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
                CAST('1.0' AS FLOAT64),
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
              )
            ) * CAST('1048576.0' AS FLOAT64)
          ) AS INT64) AS FLOAT64)
        ) > CAST('0.5' AS FLOAT64)
        THEN 1
        WHEN (
          (
            IF(
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
              CAST('0.0' AS FLOAT64),
              IF(
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
                CAST('1.0' AS FLOAT64),
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
              )
            ) * CAST('1048576.0' AS FLOAT64)
          ) - CAST(CAST(FLOOR(
            IF(
              COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
              CAST('0.0' AS FLOAT64),
              IF(
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
                CAST('1.0' AS FLOAT64),
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
              )
            ) * CAST('1048576.0' AS FLOAT64)
          ) AS INT64) AS FLOAT64)
        ) = CAST('0.5' AS FLOAT64)
        THEN MOD(
          CAST(TRUNC(
            CAST(CAST(FLOOR(
              IF(
                COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) < CAST('0.0' AS FLOAT64),
                CAST('0.0' AS FLOAT64),
                IF(
                  COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64)) > CAST('1.0' AS FLOAT64),
                  CAST('1.0' AS FLOAT64),
                  COALESCE(`t1`.`value_0`, CAST('1.0' AS FLOAT64))
                )
              ) * CAST('1048576.0' AS FLOAT64)
            ) AS INT64) AS FLOAT64)
          ) AS INT64),
          2
        )
        ELSE 0
      END AS `amount_0`
    FROM (
      SELECT
        IF(IS_NAN(`t0`.`risk`), CAST(NULL AS FLOAT64), `t0`.`risk`) AS `value_0`,
        `t0`.`sick` AS `value_1`
      FROM `visits` AS `t0`
    ) AS `t1`
  ) AS `t2`
  GROUP BY
    1,
    2
) AS `t3`
LIMIT 16777217;

-- bins of each group
SELECT
  CAST(NULL AS STRING) AS `amounts`,
  `t2`.`code_0`,
  `t2`.`code_1`,
  `t2`.`rows`,
  0 AS `view`
FROM (
  SELECT
    `t1`.`code_0`,
    `t1`.`code_1`,
    COUNT(*) AS `rows`
  FROM (
    SELECT
      `t0`.`risk` AS `value_0`,
      `t0`.`ward` AS `value_1`,
      CASE
        WHEN (
          `t0`.`risk` > CAST('0.125' AS FLOAT64)
        )
        AND (
          `t0`.`risk` <= CAST('0.875' AS FLOAT64)
        )
        THEN CAST(CEIL((
          `t0`.`risk` - CAST('0.0' AS FLOAT64)
        ) * CAST('8.0' AS FLOAT64)) AS INT64) - 1
        WHEN (
          `t0`.`risk` IS NULL
        ) OR IS_NAN(`t0`.`risk`)
        THEN -1
        WHEN `t0`.`risk` <= CAST('0.125' AS FLOAT64)
        THEN 0
        ELSE 7
      END AS `code_0`,
      `t0`.`ward` AS `code_1`
    FROM `visits` AS `t0`
  ) AS `t1`
  GROUP BY
    1,
    2
) AS `t2`
LIMIT 16777217;
