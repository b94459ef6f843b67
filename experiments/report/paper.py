"""The figures of the paper that ours stand beside: [TVE] Tables 1, 2 and 3."""

SETS = {"jsb": "JSB", "piano": "Piano", "nottingham": "Nottingham"}

MUSIC = {  # test NLL in nats for each step
    "HMM": (8.28, 9.41, 4.49), "FHMM": (8.40, 9.55, 4.72), "PFHMM": (8.30, 9.49, 4.76), "2HMM": (8.70, 9.57, 4.96),
    "arHMM": (8.00, 7.30, 3.29), "arFHMM": (8.22, 7.36, 3.57), "arPFHMM": (8.39, 9.57, 4.82), "ar2HMM": (8.19, 7.11, 3.34),
    "nnHMM": (6.73, 7.32, 2.67), "nnFHMM": (6.86, 7.41, 2.82), "nnPFHMM": (7.07, 7.47, 2.81), "nn2HMM": (6.78, 7.29, 2.81),
}  # fmt: skip

# Test NLL by plain EM, one random start and 50 iterations: a check that comes with the data, by hand.
PLAIN_EM = {
    ("jsb", "HMM"): {9: 8.82, 16: 8.19, 25: 7.79, 36: 7.51}, ("jsb", "arHMM"): {9: 8.32, 16: 7.81, 25: 7.51, 36: 7.21},
    ("piano", "HMM"): {9: 9.85, 16: 9.53, 25: 9.31, 36: 9.15}, ("piano", "arHMM"): {9: 7.39, 16: 7.24, 25: 7.17, 36: 7.12},
    ("nottingham", "HMM"): {9: 5.16, 16: 4.44, 25: 4.06, 36: 3.79}, ("nottingham", "arHMM"): {9: 3.51, 16: 3.24, 25: 2.98, 36: 2.77},
}  # fmt: skip

SEALS = {"none": (353e3, 30), "group": (342e3, 60), "individual": (341e3, 90), "both": (341e3, 120)}  # AIC, parameters

SENTIMENT = {  # accuracy, F1
    "LSTM-Final": (0.821, 0.780), "CRF-LSTM-Diag": (0.805, 0.764), "CRF-LSTM-LSTM": (0.843, 0.799),
    "CRF-Emb-LSTM": (0.833, 0.779),
}  # fmt: skip


def music(name, model):
    return MUSIC[model][list(SETS).index(name)]
