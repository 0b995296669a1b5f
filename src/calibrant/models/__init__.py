"""From a fitted model to what it predicts: `prediction_of(model, X)`.

The kind of prediction is found from the model, one small file per library: scikit-learn, LightGBM, XGBoost, CatBoost,
NGBoost, quantile-forest, skpro, statsmodels and torch, lists of models, anything with `predict`, any callable.
`register` teaches it a class of your own.
"""

from calibrant.models.dispatch import prediction_of, register
from calibrant.models.model_lists import by_level, combined
from calibrant.models.multioutput import predictions_of

register(list, combined)
register(tuple, combined)
register(dict, by_level)

__all__ = ["prediction_of", "predictions_of", "register"]
